package main

// The N6 side: a TUN device of the kernel, read and written with plain system calls, one packet each.

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"
)

const (
	tunSetIff  = 0x400454ca
	iffTun     = 0x0001
	iffNoPI    = 0x1000
	maxPacket  = 9216 // inner packets of up to 9000 octets and all headers
	ifNameSize = 16
)

// Tun is an open TUN device.
type Tun struct{ fd int }

func openTun(name string) (*Tun, error) {
	if len(name) >= ifNameSize {
		return nil, fmt.Errorf("-tun %s: the name is too long; allowed: %d characters", name, ifNameSize-1)
	}
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %v", err)
	}
	var request [40]byte // struct ifreq
	copy(request[:ifNameSize-1], name)
	binary.LittleEndian.PutUint16(request[ifNameSize:], iffTun|iffNoPI)
	if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), tunSetIff, uintptr(unsafe.Pointer(&request))); code != 0 {
		syscall.Close(fd)
		return nil, fmt.Errorf("%s: cannot create the TUN device: %v", name, code)
	}
	return &Tun{fd}, nil
}

func (t *Tun) read(buffer []byte) (int, error) {
	for {
		n, err := syscall.Read(t.fd, buffer)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (t *Tun) write(packet []byte) error {
	for {
		_, err := syscall.Write(t.fd, packet)
		if err != syscall.EINTR {
			return err
		}
	}
}

// sourcePort returns the source port of TCP or UDP in an IP packet; false if it has none.
func sourcePort(packet []byte) (uint16, bool) {
	protocol, start := packet[9], int(packet[0]&0xf)*4
	if packet[0]>>4 == 6 {
		protocol, start = packet[6], 40
	}
	if (protocol != 6 && protocol != 17) || len(packet) < start+2 {
		return 0, false
	}
	return binary.BigEndian.Uint16(packet[start:]), true
}

// addresses returns source and destination of an IP packet; false if it is not one.
func addresses(packet []byte) (source, destination netip.Addr, ok bool) {
	if len(packet) < 20 {
		return
	}
	switch packet[0] >> 4 {
	case 4:
		return netip.AddrFrom4(*(*[4]byte)(packet[12:16])), netip.AddrFrom4(*(*[4]byte)(packet[16:20])), true
	case 6:
		if len(packet) >= 40 {
			return netip.AddrFrom16(*(*[16]byte)(packet[8:24])), netip.AddrFrom16(*(*[16]byte)(packet[24:40])), true
		}
	}
	return
}
