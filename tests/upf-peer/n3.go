package main

// The N3 side: one UDP socket for each of our addresses, each read by one loop, so that packets keep their order.
// Messages are parsed and built by go-gtp.

import (
	"fmt"
	"log"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"

	"github.com/wmnsk/go-gtp/gtpv1/message"
)

const (
	gtpPort         = 2152
	socketBuffer    = 16 << 20
	soRcvBufForce   = 33
	soSndBufForce   = 32
	pduTypeUplink   = 1 // UL PDU SESSION INFORMATION, TS 38.415 5.5.2.2
	pduTypeDownlink = 0
)

// Socket is one N3 address of this UPF.
type Socket struct {
	local netip.AddrPort
	conn  *net.UDPConn
}

// Peer counts path management with one gNB address.
type Peer struct{ EchoSent, EchoReceived atomic.Uint64 }

// UPF is everything that the loops share.
type UPF struct {
	tun      *Tun
	sockets  []*Socket
	recovery uint8 // restart counter
	table    atomic.Pointer[Table]
	peers    atomic.Pointer[map[netip.Addr]*Peer]
	total    Totals
}

func openSocket(address netip.Addr) (*Socket, error) {
	local := netip.AddrPortFrom(address, gtpPort)
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(local))
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { // best effort: without the privilege the system's limit applies
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soRcvBufForce, socketBuffer)
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soSndBufForce, socketBuffer)
		})
	}
	return &Socket{local, conn}, nil
}

// receive is the uplink loop of one socket.
func (u *UPF) receive(socket *Socket) {
	buffer := make([]byte, maxPacket)
	for {
		n, from, err := socket.conn.ReadFromUDPAddrPort(buffer)
		if err != nil {
			log.Fatalf("%v: %v", socket.local, err)
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		u.total.N3Received.Add(1)
		if n < 8 || buffer[0]>>5 != 1 || buffer[0]&0x10 == 0 { // GTP version 1, protocol type GTP
			u.total.NotGTP.Add(1)
			continue
		}
		switch buffer[1] {
		case message.MsgTypeTPDU:
			u.uplink(socket, from, buffer[:n])
		case message.MsgTypeEchoRequest:
			u.answerEcho(socket, from, buffer[:n])
		case message.MsgTypeEchoResponse:
			u.total.EchoResponses.Add(1)
			if peer := (*u.peers.Load())[from.Addr()]; peer != nil {
				peer.EchoReceived.Add(1)
			}
		case message.MsgTypeEndMarker:
			u.endMarker(buffer[:n])
		case message.MsgTypeErrorIndication:
			u.errorIndication(from, buffer[:n])
		case message.MsgTypeSupportedExtensionHeaderNotification:
			u.total.ExtensionNotifications.Add(1)
		default:
			u.total.UnknownMessages.Add(1)
		}
	}
}

func (u *UPF) uplink(socket *Socket, from netip.AddrPort, packet []byte) {
	pdu, err := message.ParseTPDU(packet)
	if err != nil {
		u.total.Malformed.Add(1)
		return
	}
	tunnel := u.table.Load().byUplink[pdu.TEID()]
	if tunnel == nil {
		u.total.UnknownTEID.Add(1)
		u.indicateError(socket, from, pdu.TEID())
		return
	}
	if counter := tunnel.refuse(socket, from, pdu); counter != nil {
		counter.Add(1)
		u.total.ULRefused.Add(1)
		return
	}
	if err := u.tun.write(pdu.Payload); err != nil {
		tunnel.ul.Bad.Add(1)
		u.total.ULRefused.Add(1)
		return
	}
	tunnel.ul.Packets.Add(1)
	tunnel.ul.Bytes.Add(uint64(len(pdu.Payload)))
	u.total.ULPackets.Add(1)
	u.total.ULBytes.Add(uint64(len(pdu.Payload)))
}

// refuse returns the counter of the first thing that is wrong with an uplink G-PDU, or nil.
func (t *Tunnel) refuse(socket *Socket, from netip.AddrPort, pdu *message.TPDU) *atomic.Uint64 {
	if from.Addr() != t.gnb.Addr() || socket != t.socket {
		return &t.ul.WrongPeer
	}
	var container []byte
	for _, header := range pdu.ExtensionHeaders {
		if header.Type == message.ExtHeaderTypePDUSessionContainer {
			container = header.Content
		}
	}
	if len(container) < 2 {
		return &t.ul.NoPSC
	}
	if container[0]>>4 != pduTypeUplink {
		return &t.ul.WrongPDUType
	}
	if !t.has(container[1] & 0x3f) {
		return &t.ul.WrongQFI
	}
	source, _, ok := addresses(pdu.Payload)
	if !ok {
		return &t.ul.Bad
	}
	if source != t.ue4 && source != t.ue6 {
		return &t.ul.WrongSource
	}
	return nil
}

// has says whether the tunnel has that QoS flow.
func (t *Tunnel) has(qfi uint8) bool {
	for _, flow := range t.Flows {
		if flow.QFI == qfi {
			return true
		}
	}
	return qfi == t.QFI
}

// container returns the second octet of the PDU Session Container of a downlink packet: RQI and QFI.
func (t *Tunnel) container(packet []byte) byte {
	port, ok := sourcePort(packet)
	for _, flow := range t.Flows {
		if ok && flow.Port == port {
			return 0x40 | flow.QFI
		}
	}
	return t.QFI
}

// downlink is the loop from the TUN to the gNB.
func (u *UPF) downlink() {
	buffer := make([]byte, maxPacket)
	out := make([]byte, maxPacket)
	for {
		n, err := u.tun.read(buffer)
		if err != nil {
			log.Fatalf("tun: %v", err)
		}
		_, destination, ok := addresses(buffer[:n])
		if !ok {
			u.total.DLNotIP.Add(1)
			continue
		}
		if destination.IsMulticast() { // the kernel's own neighbour and router traffic
			u.total.DLMulticast.Add(1)
			continue
		}
		tunnel := u.table.Load().byAddress[destination]
		if tunnel == nil {
			u.total.DLNoTunnel.Add(1)
			continue
		}
		pdu := message.NewTPDUWithExtentionHeader(tunnel.DLTEID, buffer[:n],
			message.NewExtensionHeader(message.ExtHeaderTypePDUSessionContainer,
				[]byte{pduTypeDownlink << 4, tunnel.container(buffer[:n])}, message.ExtHeaderTypeNoMoreExtensionHeaders))
		size := pdu.MarshalLen()
		if size > len(out) || pdu.MarshalTo(out) != nil || u.send(tunnel.socket, tunnel.gnb, out[:size]) != nil {
			tunnel.dl.SendErrors.Add(1)
			u.total.DLSendErrors.Add(1)
			continue
		}
		tunnel.dl.Packets.Add(1)
		tunnel.dl.Bytes.Add(uint64(n))
		u.total.DLPackets.Add(1)
		u.total.DLBytes.Add(uint64(n))
	}
}

func (u *UPF) send(socket *Socket, to netip.AddrPort, packet []byte) error {
	_, err := socket.conn.WriteToUDPAddrPort(packet, to)
	return err
}

func parseSockets(list []string) ([]*Socket, error) {
	var sockets []*Socket
	for _, text := range list {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("-n3: %v", err)
		}
		socket, err := openSocket(address.Unmap())
		if err != nil {
			return nil, fmt.Errorf("-n3: %v", err)
		}
		sockets = append(sockets, socket)
	}
	return sockets, nil
}
