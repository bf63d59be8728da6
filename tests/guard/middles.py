"""What may stand in the middle of the bed instead of the guard: a bridge of the kernel, nftables' SYNPROXY."""

from __future__ import annotations

from pathlib import Path

from bed import CLIENT_IPV4, IPERF_PORT, SERVER_IPV4, WEB_PORT, Bed
from processes import run

PORTS = ("out0", "in0")


class Bridge:
    """Nobody protects the server: the kernel passes every frame."""

    name = "nobody"

    def __init__(self, bed: Bed):
        self.bed = bed

    def __enter__(self):
        ip = ["ip", "-n", self.bed.guard]
        run([*ip, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0"])
        for port in PORTS:
            run([*ip, "link", "set", port, "master", "br0"])
        run([*ip, "link", "set", "br0", "up"])
        self.bed.neighbors()
        return self

    def __exit__(self, *_):
        run(["ip", "-n", self.bed.guard, "link", "del", "br0"], check=False)


RULES = """
table ip guard {{
  chain before {{
    type filter hook prerouting priority raw; policy accept;
    tcp dport {{ {ports} }} tcp flags & (fin | syn | rst | ack) == syn notrack
  }}
  chain pass {{
    type filter hook forward priority filter; policy accept;
    tcp dport {{ {ports} }} ct state invalid,untracked synproxy mss {mss} wscale {scale} timestamp sack-perm
    ct state invalid drop
  }}
}}
"""


class Synproxy:
    """nftables' SYNPROXY. It needs a router: the middle has a route to each end, and each end sends to the middle's MAC
    address. IPv4 only. It cannot learn the window scale of the server, so we tell it."""

    name = "synproxy"

    def __init__(self, bed: Bed, mss: int = 1460):
        self.bed, self.scale, self.mss = bed, scale_of(bed), mss

    def __enter__(self):
        bed, ip = self.bed, ["ip", "-n", self.bed.guard]
        for name, value in {
            "net.ipv4.ip_forward": 1,
            "net.ipv4.conf.all.rp_filter": 0,
            "net.ipv4.conf.out0.rp_filter": 0,
            "net.ipv4.conf.in0.rp_filter": 0,
            "net.ipv4.conf.all.send_redirects": 0,
            "net.ipv4.conf.out0.send_redirects": 0,
            "net.ipv4.tcp_timestamps": 1,
        }.items():
            bed.sysctl(bed.guard, name, value)
        for port, address, mac in (
            ("out0", CLIENT_IPV4, bed.mac(bed.client, "cl0")),
            ("in0", SERVER_IPV4, bed.mac(bed.server, "sv0")),
        ):
            run([*ip, "addr", "add", "10.77.0.3/32", "dev", port])
            run([*ip, "route", "add", f"{address}/32", "dev", port])
            run([*ip, "neigh", "replace", address, "lladdr", mac, "dev", port, "nud", "permanent"])
        run([*ip, "route", "add", "default", "via", CLIENT_IPV4, "dev", "out0", "onlink"])
        rules = RULES.format(ports=f"{WEB_PORT}, {IPERF_PORT}", mss=self.mss, scale=self.scale)
        path = bed.folder / "synproxy.nft"
        path.write_text(rules)
        run(["nft", "-f", path], netns=bed.guard)
        bed.sysctl(bed.guard, "net.netfilter.nf_conntrack_tcp_loose", 0)
        bed.neighbors(bed.mac(bed.guard, "out0"), bed.mac(bed.guard, "in0"))
        return self

    def __exit__(self, *_):
        bed, ip = self.bed, ["ip", "-n", self.bed.guard]
        run(["nft", "flush", "ruleset"], netns=bed.guard, check=False)
        for port in PORTS:
            run([*ip, "addr", "flush", "dev", port], check=False)
            run([*ip, "route", "flush", "dev", port], check=False)
        bed.sysctl(bed.guard, "net.ipv4.ip_forward", 0)
        bed.neighbors()

    def counters(self) -> dict[str, int]:
        """/proc/net/stat/synproxy: sums of all cores."""
        head, *rows = run(["cat", "/proc/net/stat/synproxy"], netns=self.bed.guard).stdout.splitlines()
        return {name: sum(int(row.split()[at], 16) for row in rows) for at, name in enumerate(head.split())}


class XdpSynproxy(Synproxy):
    """The same with SYNs answered by an XDP program on the outer port, before the stack: the kernel's own cookies
    (bpf_tcp_raw_gen_syncookie_ipv4), which SYNPROXY knows, so that it goes on from the client's ACK."""

    name = "xdp_synproxy"

    def __enter__(self):
        program = xdp_program(self.bed, self.scale)
        super().__enter__()
        for netns, port, section in ((self.bed.guard, "out0", "xdp"), (self.bed.client, "cl0", "pass")):
            run(["ip", "-n", netns, "link", "set", "dev", port, "xdpdrv", "obj", program, "sec", section])
        return self

    def __exit__(self, *_):
        for netns, port in ((self.bed.guard, "out0"), (self.bed.client, "cl0")):
            run(["ip", "-n", netns, "link", "set", "dev", port, "xdpdrv", "off"], check=False)
        super().__exit__()


def xdp_program(bed: Bed, scale: int) -> Path:
    """Compiled; a Failure says why it cannot be."""
    source, program = Path(__file__).with_name("xdp_syn_cookies.c"), bed.folder / "xdp_syn_cookies.o"
    headers = run(["clang", "-print-target-triple"]).stdout.strip().replace("-pc-", "-")
    words = ["clang", "-O2", "-g", "-target", "bpf", f"-I/usr/include/{headers}", f"-DPORT={WEB_PORT}"]
    run([*words, f"-DSECOND_PORT={IPERF_PORT}", f"-DSCALE={scale}", "-c", source, "-o", program])
    return program


def scale_of(bed: Bed) -> int:
    """The window scale that the server announces: what its largest buffer needs (tcp_select_initial_window)."""
    largest = max(
        int(run(["sysctl", "-n", name], netns=bed.server).stdout.split()[-1])
        for name in ("net.ipv4.tcp_rmem", "net.core.rmem_max")
    )
    return max(0, min(14, largest.bit_length() - 1 - 15))
