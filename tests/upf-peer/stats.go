package main

// What was counted, as JSON: totals, the kernel's own UDP counters of this namespace, peers, and tunnels with traffic.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
)

// Totals over all tunnels. N3Received is the sum of everything the sockets delivered.
type Totals struct {
	N3Received, NotGTP, Malformed, UnknownMessages, UnknownTEID   atomic.Uint64
	ULPackets, ULBytes, ULRefused                                 atomic.Uint64
	DLPackets, DLBytes, DLSendErrors                              atomic.Uint64
	DLNotIP, DLMulticast, DLNoTunnel                              atomic.Uint64
	EchoRequests, EchoResponses, ExtensionNotifications           atomic.Uint64
	EndMarkersReceived, EndMarkersSent                            atomic.Uint64
	ErrorIndicationsReceived, ErrorIndicationsSent, LastErrorTEID atomic.Uint64
	SignallingErrors                                              atomic.Uint64
}

// snake turns a field name such as LastErrorTEID or ULBytes into last_error_teid or ul_bytes.
func snake(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			before := unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])
			word := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if before || word {
				out.WriteByte('_')
			}
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// counters reads every counter of a struct, so that a new one cannot be forgotten in the output.
func counters(pointer any) map[string]uint64 {
	out := map[string]uint64{}
	value := reflect.ValueOf(pointer).Elem()
	for i := 0; i < value.NumField(); i++ {
		out[snake(value.Type().Field(i).Name)] = value.Field(i).Addr().Interface().(*atomic.Uint64).Load()
	}
	return out
}

func (u *UPF) snapshot() map[string]any {
	table := u.table.Load()
	tunnels := []map[string]any{}
	for _, tunnel := range table.all {
		ul, dl := counters(tunnel.ul), counters(tunnel.dl)
		sum := uint64(0)
		for _, group := range []map[string]uint64{ul, dl} {
			for _, count := range group {
				sum += count
			}
		}
		if sum == 0 {
			continue
		}
		tunnels = append(tunnels, map[string]any{
			"ul_teid": tunnel.ULTEID, "dl_teid": tunnel.DLTEID, "gnb": tunnel.GNB, "upf": tunnel.UPF, "qfi": tunnel.QFI,
			"ue_ipv4": tunnel.UEIPv4, "ue_ipv6": tunnel.UEIPv6, "ul": ul, "dl": dl,
		})
	}
	peers := map[string]any{}
	for address, peer := range *u.peers.Load() {
		peers[address.String()] = counters(peer)
	}
	return map[string]any{
		"totals": counters(&u.total), "kernel": kernelUDP(), "peers": peers,
		"tunnels_configured": len(table.all), "tunnels": tunnels,
	}
}

// kernelUDP returns the UDP counters that tell of packets the sockets never saw: bad checksums, full buffers.
func kernelUDP() map[string]uint64 {
	out := map[string]uint64{}
	if text, err := os.ReadFile("/proc/net/snmp"); err == nil {
		var names []string
		for _, line := range strings.Split(string(text), "\n") {
			fields := strings.Fields(line)
			if len(fields) == 0 || fields[0] != "Udp:" {
				continue
			}
			if names == nil {
				names = fields[1:]
				continue
			}
			for i, field := range fields[1:] {
				if value, err := strconv.ParseUint(field, 10, 64); err == nil && i < len(names) {
					out["udp4_"+snake(names[i])] = value
				}
			}
		}
	}
	if text, err := os.ReadFile("/proc/net/snmp6"); err == nil {
		for _, line := range strings.Split(string(text), "\n") {
			fields := strings.Fields(line)
			if len(fields) == 2 && strings.HasPrefix(fields[0], "Udp6") {
				if value, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
					out["udp6_"+snake(strings.TrimPrefix(fields[0], "Udp6"))] = value
				}
			}
		}
	}
	return out
}

// writeStats stores the counters in a file, replaced in one step, or prints them when there is none.
func (u *UPF) writeStats(path string) error {
	text, err := json.MarshalIndent(u.snapshot(), "", " ")
	if err != nil {
		return err
	}
	if path == "" {
		_, err = fmt.Println(string(text))
		return err
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(temporary, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
