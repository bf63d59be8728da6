// upf-peer: the N3 side of a UPF for the demo and the end-to-end tests. GTP-U is encoded and decoded by the
// third-party module go-gtp, so it judges our gNB; IP enters and leaves through a TUN device of the kernel.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: upf-peer -n3 ADDRESS[,ADDRESS] -tunnels FILE [-tun NAME] [-stats FILE] [-echo PERIOD] [-recovery N]

  FILE of -tunnels: [{"dl_teid": 67108864, "ul_teid": 4097, "gnb": "10.100.0.1", "upf": "10.100.0.2", "qfi": 9,
                      "ue_ipv4": "10.45.0.2", "ue_ipv6": "fd00:45::2"}, ...]
  SIGHUP reads it again (tunnels that are gone get an End Marker), SIGUSR1 writes the statistics, SIGUSR2 probes each
  gNB with extension headers, SIGTERM writes the statistics and ends.

example: upf-peer -n3 10.100.0.2,fd00:100::2 -tunnels tunnels.json -stats upf.json -echo 1s

`

func main() {
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	n3 := flag.String("n3", "10.100.0.2", "own N3 addresses, separated by commas")
	tunnels := flag.String("tunnels", "", "mapping file (JSON)")
	tun := flag.String("tun", "upf0", "name of the TUN device")
	stats := flag.String("stats", "", "file for the statistics; empty: standard output")
	echo := flag.Duration("echo", 0, "period of Echo Requests to each gNB address; 0: none")
	recovery := flag.Uint("recovery", 0, "restart counter in Echo Responses, 0 to 255")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() != 0 || *tunnels == "" || *recovery > 255 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(strings.Split(*n3, ","), *tunnels, *tun, *stats, *echo, uint8(*recovery)); err != nil {
		fmt.Fprintf(os.Stderr, "upf-peer: %v\n", err)
		os.Exit(2)
	}
}

func run(n3 []string, tunnels, tun, stats string, period time.Duration, recovery uint8) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP)
	sockets, err := parseSockets(n3)
	if err != nil {
		return err
	}
	table, err := loadTable(tunnels, sockets, nil)
	if err != nil {
		return err
	}
	device, err := openTun(tun)
	if err != nil {
		return err
	}
	upf := &UPF{tun: device, sockets: sockets, recovery: recovery}
	upf.install(table)
	for _, socket := range sockets {
		go upf.receive(socket)
	}
	go upf.downlink()
	if period > 0 {
		go func() {
			for sequence := uint16(0); ; sequence++ {
				upf.echo(sequence)
				time.Sleep(period)
			}
		}()
	}
	log.Printf("ready: %d tunnels on %s, TUN %s", len(table.all), strings.Join(n3, " and "), tun)
	for received := range signals {
		switch received {
		case syscall.SIGHUP:
			table, err := loadTable(tunnels, sockets, upf.table.Load())
			if err != nil { // the old table stays in force
				log.Printf("reload refused: %v", err)
				continue
			}
			upf.install(table)
			log.Printf("reloaded: %d tunnels", len(table.all))
		case syscall.SIGUSR2:
			upf.probe()
		case syscall.SIGUSR1:
			if err := upf.writeStats(stats); err != nil {
				log.Print(err)
			}
		default:
			return upf.writeStats(stats)
		}
	}
	return nil
}
