package main

// Path and tunnel management of N3: echo, Error Indication, End Marker (TS 29.281 7.2 and 7.3).

import (
	"net"
	"net/netip"

	"github.com/wmnsk/go-gtp/gtpv1/ie"
	"github.com/wmnsk/go-gtp/gtpv1/message"
)

type marshaller interface{ Marshal() ([]byte, error) }

func (u *UPF) sendMessage(socket *Socket, to netip.AddrPort, m marshaller) {
	packet, err := m.Marshal()
	if err == nil {
		err = u.send(socket, to, packet)
	}
	if err != nil {
		u.total.SignallingErrors.Add(1)
	}
}

// answerEcho answers to the address and port the request came from, with its sequence number (TS 29.281 7.2.2).
func (u *UPF) answerEcho(socket *Socket, from netip.AddrPort, packet []byte) {
	request, err := message.ParseEchoRequest(packet)
	if err != nil {
		u.total.Malformed.Add(1)
		return
	}
	u.total.EchoRequests.Add(1)
	u.sendMessage(socket, from, message.NewEchoResponse(request.Sequence(), ie.NewRecovery(u.recovery)))
}

func (u *UPF) endMarker(packet []byte) {
	marker, err := message.ParseEndMarker(packet)
	if err != nil {
		u.total.Malformed.Add(1)
		return
	}
	u.total.EndMarkersReceived.Add(1)
	if tunnel := u.table.Load().byUplink[marker.TEID()]; tunnel != nil {
		tunnel.ul.EndMarkers.Add(1)
	}
}

// errorIndication counts the gNB's report of a TEID it does not know; the tunnel stays (there is no SMF to ask).
func (u *UPF) errorIndication(from netip.AddrPort, packet []byte) {
	indication, err := message.ParseErrorIndication(packet)
	if err != nil || indication.TEIDDataI == nil || indication.GTPUPeerAddress == nil {
		u.total.Malformed.Add(1)
		return
	}
	u.total.ErrorIndicationsReceived.Add(1)
	teid, err := indication.TEIDDataI.TEID()
	if err == nil {
		u.total.LastErrorTEID.Store(uint64(teid))
	}
}

// indicateError tells the sender that its TEID is unknown here (TS 29.281 7.3.1), to the GTP-U port.
func (u *UPF) indicateError(socket *Socket, to netip.AddrPort, teid uint32) {
	u.total.ErrorIndicationsSent.Add(1)
	u.sendMessage(socket, netip.AddrPortFrom(to.Addr(), gtpPort), message.NewErrorIndication(0, 0,
		ie.NewTEIDDataI(teid), ie.NewGSNAddressByIP(net.IP(socket.local.Addr().AsSlice()))))
}

// install publishes a table; tunnels that are gone get an End Marker, the sign that nothing more comes through them.
func (u *UPF) install(table *Table) {
	peers := map[netip.Addr]*Peer{}
	if was := u.peers.Load(); was != nil { // a peer once seen stays, so that its counters do
		for address, peer := range *was {
			peers[address] = peer
		}
	}
	for _, tunnel := range table.all {
		if address := tunnel.gnb.Addr(); peers[address] == nil {
			peers[address] = &Peer{}
		}
	}
	u.peers.Store(&peers)
	old := u.table.Swap(table)
	if old == nil {
		return
	}
	for _, tunnel := range old.all {
		if now := table.byUplink[tunnel.ULTEID]; now == nil || now.DLTEID != tunnel.DLTEID {
			u.total.EndMarkersSent.Add(1)
			packet, err := message.NewHeader(0x30, message.MsgTypeEndMarker, tunnel.DLTEID, 0, nil).Marshal()
			if err != nil || u.send(tunnel.socket, tunnel.gnb, packet) != nil {
				u.total.SignallingErrors.Add(1)
			}
		}
	}
}

// probe sends each gNB, for its first tunnel, a G-PDU with an extension header of a type that does not exist but must be
// known by the receiver (TS 29.281 5.2.1), one with a type that need not be known, and our own list of extension headers.
func (u *UPF) probe() {
	done := map[netip.Addr]bool{}
	for _, tunnel := range u.table.Load().all {
		if done[tunnel.gnb.Addr()] {
			continue
		}
		done[tunnel.gnb.Addr()] = true
		for _, kind := range []uint8{0xa5, 0x25} {
			u.sendMessage(tunnel.socket, tunnel.gnb, message.NewTPDUWithExtentionHeader(tunnel.DLTEID, []byte{0x45, 0, 0, 20},
				message.NewExtensionHeader(kind, []byte{0, 0}, message.ExtHeaderTypePDUSessionContainer),
				message.NewExtensionHeader(message.ExtHeaderTypePDUSessionContainer,
					[]byte{pduTypeDownlink << 4, tunnel.QFI}, message.ExtHeaderTypeNoMoreExtensionHeaders)))
		}
		u.sendMessage(tunnel.socket, tunnel.gnb, message.NewSupportedExtensionHeaderNotification(0, 0,
			ie.NewExtensionHeaderTypeList(message.ExtHeaderTypePDUSessionContainer)))
	}
}

// echo sends one Echo Request to every gNB address in the table.
func (u *UPF) echo(sequence uint16) {
	table := u.table.Load()
	done := map[netip.Addr]bool{}
	for _, tunnel := range table.all {
		if address := tunnel.gnb.Addr(); !done[address] {
			done[address] = true
			(*u.peers.Load())[address].EchoSent.Add(1)
			u.sendMessage(tunnel.socket, tunnel.gnb, message.NewEchoRequest(sequence))
		}
	}
}
