package main

// The tunnels of the N3 interface as the UPF knows them, read from a mapping file. A table is never changed after it
// was published: a reload builds a new one and keeps the counters of tunnels that stay.

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"
)

// Flow is a QoS flow of a tunnel beside its default one: packets of TCP or UDP from and to this port of the servers.
// Downlink packets of it carry RQI, so that the UE uses the flow for its answers (TS 23.501 5.7.5.3).
type Flow struct {
	Port uint16 `json:"port"`
	QFI  uint8  `json:"qfi"`
}

// Mapping is one entry of the mapping file. UE addresses may be empty.
type Mapping struct {
	DLTEID uint32 `json:"dl_teid"`
	ULTEID uint32 `json:"ul_teid"`
	GNB    string `json:"gnb"`
	UPF    string `json:"upf"`
	QFI    uint8  `json:"qfi"`
	UEIPv4 string `json:"ue_ipv4"`
	UEIPv6 string `json:"ue_ipv6"`
	Flows  []Flow `json:"flows"`
}

// Uplink counts what arrived for a tunnel; only `Packets` were delivered to the TUN, the others were dropped.
type Uplink struct {
	Packets, Bytes                                             atomic.Uint64
	NoPSC, WrongPDUType, WrongQFI, WrongSource, WrongPeer, Bad atomic.Uint64
	EndMarkers                                                 atomic.Uint64
}

// Downlink counts what was sent to the gNB for a tunnel.
type Downlink struct {
	Packets, Bytes, SendErrors atomic.Uint64
}

// Tunnel is one PDU session tunnel: both TEIDs, both ends, and the UE behind it.
type Tunnel struct {
	Mapping
	gnb      netip.AddrPort
	socket   *Socket
	ue4, ue6 netip.Addr
	ul       *Uplink
	dl       *Downlink
}

// Table is the read-only index used by the packet loops.
type Table struct {
	byUplink  map[uint32]*Tunnel
	byAddress map[netip.Addr]*Tunnel
	all       []*Tunnel
}

func parseAddress(text, key string, index int) (netip.Addr, error) {
	if text == "" {
		return netip.Addr{}, nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("entry %d: %s: %v", index, key, err)
	}
	return address.Unmap(), nil
}

// loadTable reads the mapping file; counters of tunnels with the same pair of TEIDs continue from `old`.
func loadTable(path string, sockets []*Socket, old *Table) (*Table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries []Mapping
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	table := &Table{byUplink: make(map[uint32]*Tunnel, len(entries)), byAddress: make(map[netip.Addr]*Tunnel, 2*len(entries))}
	for i, entry := range entries {
		tunnel, err := makeTunnel(entry, i, sockets)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", path, err)
		}
		if _, twice := table.byUplink[entry.ULTEID]; twice {
			return nil, fmt.Errorf("%s: entry %d: uplink TEID %#x is used twice", path, i, entry.ULTEID)
		}
		if old != nil {
			if was := old.byUplink[entry.ULTEID]; was != nil && was.DLTEID == entry.DLTEID {
				tunnel.ul, tunnel.dl = was.ul, was.dl
			}
		}
		table.byUplink[entry.ULTEID] = tunnel
		table.all = append(table.all, tunnel)
		for _, address := range []netip.Addr{tunnel.ue4, tunnel.ue6} {
			if address.IsValid() && table.byAddress[address] == nil { // the first tunnel of a UE is its default one
				table.byAddress[address] = tunnel
			}
		}
	}
	return table, nil
}

func makeTunnel(entry Mapping, index int, sockets []*Socket) (*Tunnel, error) {
	tunnel := &Tunnel{Mapping: entry, ul: &Uplink{}, dl: &Downlink{}}
	gnb, err := parseAddress(entry.GNB, "gnb", index)
	if err != nil {
		return nil, err
	}
	upf, err := parseAddress(entry.UPF, "upf", index)
	if err != nil {
		return nil, err
	}
	for _, socket := range sockets {
		if socket.local.Addr() == upf {
			tunnel.socket = socket
		}
	}
	if tunnel.socket == nil {
		return nil, fmt.Errorf("entry %d: upf: %q is not an address given with -n3", index, entry.UPF)
	}
	if gnb.Is4() != upf.Is4() {
		return nil, fmt.Errorf("entry %d: gnb: %q is not of the family of upf", index, entry.GNB)
	}
	if entry.QFI > 63 {
		return nil, fmt.Errorf("entry %d: qfi: %d; allowed: 0 to 63", index, entry.QFI)
	}
	for _, flow := range entry.Flows {
		if flow.QFI > 63 {
			return nil, fmt.Errorf("entry %d: flows: qfi %d; allowed: 0 to 63", index, flow.QFI)
		}
	}
	tunnel.gnb = netip.AddrPortFrom(gnb, gtpPort)
	if tunnel.ue4, err = parseAddress(entry.UEIPv4, "ue_ipv4", index); err != nil {
		return nil, err
	}
	tunnel.ue6, err = parseAddress(entry.UEIPv6, "ue_ipv6", index)
	return tunnel, err
}
