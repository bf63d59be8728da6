"""The v1model build of gnb in BMv2, where simple_switch is on PATH: every form of a bearer both ways, clones, returned
and armed frames, and what is punted. What must come out is written here by hand and by scapy, not by a P4 program."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import pytest
import specs
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import rdpcap, wrpcap

P4 = Path(__file__).resolve().parents[2] / "p4"
TOOLS = ("simple_switch", "simple_switch_CLI", "p4c-bm2-ss")
N3, AIR, PUNT_N3, PUNT_AIR, COPIES, WORKER_N3, WORKER_AIR = range(7)  # ports; VFs from 2 on
FIRST_VF = PUNT_N3
FORMS = [(rlc, pdcp, sdap) for rlc in (12, 18) for pdcp in (12, 18) for sdap in (0, 1)]
AIR_ADDRESSES = bytes.fromhex("020000000012020000000011")
INNER = (
    bytes(IP(src="8.8.8.8", dst="10.45.0.5") / UDP(sport=1, dport=2) / Raw(b"four")),
    bytes(IPv6(src="2001:db8::1", dst="2001:db8::5") / UDP(sport=1, dport=2) / Raw(b"six")),
)
ACTION = re.compile(r"action (\w+)\((.*?)\)", re.DOTALL)
TABLE = re.compile(r"table (\w+) {(.*?)\n    }", re.DOTALL)
WAIT_SECONDS = 8  # simple_switch begins to read so long after its start; the tables must be full by then


def n3_frame(teid: int, inner: bytes, psc: bool = True, vlan: bool = False, sequence: bool = False, to="10.0.0.2"):
    link = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    gtp = GTP_U_Header(teid=teid, gtp_type=255, S=int(sequence), E=int(psc), next_ex=0x85 if psc else 0)
    if psc:
        gtp = gtp / GTPPDUSessionContainer(type=0, QFI=9, RQI=0)
    link = link / Dot1Q(vlan=5) if vlan else link
    return bytes(link / IP(src="10.0.0.1", dst=to) / UDP(sport=2152, dport=2152, chksum=0) / gtp / Raw(inner))


def pdu(number: int, form: tuple[int, int, int], count: int, sdu: bytes, downlink: bool, poll=False, qfi=9) -> bytes:
    """airhdr, RLC, PDCP and SDAP of TS 38.322, 38.323 and 37.324, and the SDU."""
    rlc, pdcp, sdap = form
    modes = (0x80 if downlink else 0) | 0x40 | rlc // 6 << 3 | (pdcp == 18) << 2 | sdap << 1
    out = b""
    for sn_bits, flags in ((rlc, 2 | poll), (pdcp, 2)):
        octets = sn_bits // 6
        out += (flags << 8 * octets - 2 | count % (1 << sn_bits)).to_bytes(octets, "big")
    out += bytes([qfi if downlink else 0x80 | qfi] * sdap) + sdu
    return bytes([0x20, modes, 0, 0]) + number.to_bytes(4, "big") + len(out).to_bytes(2, "big") + out


def air_frame(*arguments, **more) -> bytes:
    return AIR_ADDRESSES + b"\x88\xb5" + pdu(*arguments, **more)


def uplink_n3(number: int, sdu: bytes, qfi: int) -> bytes:
    link = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    ip = IP(src="10.0.0.2", dst="10.0.0.1", id=0, flags="DF", ttl=64)
    gtp = GTP_U_Header(teid=0xAA00 + number, gtp_type=255, E=1, next_ex=0x85)
    udp = UDP(sport=2152, dport=2152, chksum=0)
    return bytes(link / ip / udp / gtp / GTPPDUSessionContainer(type=1, QFI=qfi) / Raw(sdu))


class Bed:
    """What simple_switch is told and given, and what it must send by port."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.frames: list[tuple[int, bytes]] = []
        self.expected: dict[int, list[bytes]] = defaultdict(list)

    def add(self, table: str, action: str, key: int | tuple[int, ...], *values: int) -> None:
        keys = " ".join(str(part) for part in (key if isinstance(key, tuple) else (key,)))
        words = " ".join(str(value) for value in values)
        self.commands.append(f"table_add GnbControl.{table} GnbControl.{action} {keys} => {words}")

    def ports(self) -> None:
        self.add("ports", "from_n3", N3, PUNT_N3 - FIRST_VF, 0)
        self.add("ports", "from_air", AIR, PUNT_AIR - FIRST_VF)
        self.add("out_ports", "send", 64, N3)
        self.add("out_ports", "send", 65, AIR)
        for port in range(FIRST_VF, WORKER_AIR + 1):
            self.add("ports", "from_vf", port)
            self.add("out_ports", "send", port - FIRST_VF, port)
        self.add("clones", "clone_to", COPIES - FIRST_VF, COPIES)
        self.commands.append(f"mirroring_add {COPIES} {COPIES}")

    def profile(self, number: int, form: tuple[int, int, int]) -> None:
        rlc, pdcp, sdap = form
        masks = [(1 << bits) - 1 for bits in (rlc, pdcp)]
        self.add("profiles", "profile", number, 1, 1499, 3, *masks, 0, 0, 0)  # no reserve, any VLAN
        macs = [int.from_bytes(AIR_ADDRESSES[at : at + 6], "big") for at in (0, 6)]
        action = f"am{rlc}_pdcp{pdcp}" + ("_sdap" if sdap else "")
        top = 1 << 8 * (rlc // 6) - 1  # D/C; P is the next bit
        for poll in (0, 1):
            self.add("air", action, (number, poll), *macs, top | poll * top >> 1)

    def bearer(self, number: int, form: tuple[int, int, int], armed: bool = False) -> None:
        rlc, pdcp, sdap = form
        modes = 0x40 | rlc // 6 << 3 | (pdcp == 18) << 2 | sdap << 1
        vfs = (COPIES - FIRST_VF, WORKER_N3 - FIRST_VF)
        self.add("bearers", "serve", number, number, FORMS.index(form), 0x80 | modes, 0, number, 100, 0, 7, *vfs)
        vfs = (COPIES - FIRST_VF, WORKER_AIR - FIRST_VF)
        self.add("uplink", "uplink_serve", number, number, modes, 7, 0xAA00 + number, 9, *vfs)
        self.commands.append(f"register_write GnbControl.numbers {number} {int(armed)}")  # packets at the host

    def give(self, port: int, frame: bytes, out: int, expected: bytes | None = None) -> None:
        """`expected`: None if it goes out as it came in."""
        self.frames.append((port, frame))
        self.expected[out].append(frame if expected is None else expected)

    def give_downlink(self, port: int, frame: bytes, expected: bytes) -> None:
        self.give(port, frame, AIR, expected)
        self.expected[COPIES].append(expected)  # the clone


def fill(bed: Bed) -> None:
    bed.ports()
    bed.add("n3_addresses", "n3_address", 0x0A000002, 1)
    base = sum((0x4500, 0x4000, 0x4011, 0x0A00, 2, 0x0A00, 1))
    bed.add("peers", "peer", 9, 1399, base)
    bed.add("upfs", "to_upf", 9, 0x020000000001, 0x020000000002, 0x0A000002, 0x0A000001)
    for number, form in enumerate(FORMS):
        bed.profile(number, form)
    for number, form in enumerate(FORMS, 0x100):
        bed.bearer(number, form)
        for count in range(10):
            inner, psc = INNER[count % 2], count % 5 != 0
            frame = n3_frame(number, inner, psc, vlan=count % 3 == 0, sequence=count % 4 == 0)
            sent = air_frame(number, form, count, inner, True, poll=count % 4 == 3, qfi=9 if psc else 7)
            bed.give_downlink(N3, frame, sent)
            air = air_frame(number, form, count, inner, False, qfi=33)
            bed.give(AIR, air, N3, uplink_n3(number, inner, 33 if form[2] else 7))
        air = bytearray(air_frame(number, form, 3, INNER[0], False))
        rlc_at, pdcp_at = 24, 24 + form[0] // 6
        for at, bits, out in ((rlc_at, 0x80, COPIES), (rlc_at, 0x10, WORKER_AIR), (pdcp_at, 0x80, WORKER_AIR)):
            odd = bytearray(air)
            odd[at] ^= bits
            bed.give(AIR, bytes(odd), out)
    fill_others(bed)


def fill_others(bed: Bed) -> None:
    bed.bearer(0x200, (18, 18, 1), armed=True)
    returned = AIR_ADDRESSES + bytes.fromhex("88b5 21090000 00000200")
    returned += len(INNER[0]).to_bytes(2, "big") + INNER[0]
    bed.give(N3, n3_frame(0x200, INNER[0]), WORKER_N3)
    for count in range(2):
        bed.give_downlink(WORKER_N3, returned, air_frame(0x200, (18, 18, 1), count, INNER[0], True))
    bed.give_downlink(N3, n3_frame(0x200, INNER[1]), air_frame(0x200, (18, 18, 1), 2, INNER[1], True))
    bed.add("bearers", "to_host", 0x300, WORKER_N3 - FIRST_VF)
    bed.add("uplink", "uplink_to_host", 0x300, WORKER_AIR - FIRST_VF)
    bed.give(N3, n3_frame(0x300, INNER[0]), WORKER_N3)
    bed.give(AIR, air_frame(0x300, (18, 18, 1), 0, INNER[0], False), WORKER_AIR)
    echo = Ether() / IP(dst="10.0.0.2") / UDP(sport=2152, dport=2152) / GTP_U_Header(gtp_type=1, S=1)
    bed.give(N3, n3_frame(0x100, INNER[0], to="10.0.0.3"), WORKER_N3)
    bed.give(N3, n3_frame(0x100, bytes(1501)), WORKER_N3)
    for frame in (
        n3_frame(0x999, INNER[0]),
        bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01", type=0x0806) / ARP()),
        bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / echo.payload),
    ):
        bed.give(N3, frame, PUNT_N3)
    bed.give(AIR, air_frame(0x999, (18, 18, 1), 0, INNER[0], False), PUNT_AIR)
    bed.give(AIR, air_frame(0x100, (18, 18, 1), 0, INNER[0], False), WORKER_AIR)  # other modes than the bearer's
    bed.give(AIR, air_frame(0x107, (18, 18, 1), 0, bytes(1401), False), WORKER_AIR)
    bed.give(WORKER_N3, air_frame(0x300, (12, 12, 0), 0, INNER[0], True), AIR)
    bed.give(WORKER_N3, uplink_n3(0x300, INNER[1], 5), N3)


def is_downlink(frame: bytes) -> bool:
    """In simple_switch, a clone queues a second time: an RLC control PDU for the same port overtakes it."""
    return frame[12:15] == b"\x88\xb5\x20" and frame[15] & 0x80 != 0


def is_not_downlink(frame: bytes) -> bool:
    return not is_downlink(frame)


def run_switch(bed: Bed, folder: Path) -> dict[int, list[bytes]]:
    program = folder / "gnb.json"
    include = specs.include_folder(shutil.which("p4c-bm2-ss"))
    compile_it = ["p4c-bm2-ss", "-I", include, "-DFEATURE=FEATURE_clone", "-o", program, P4 / "gnb_v1model.p4"]
    subprocess.run(compile_it, check=True, capture_output=True, timeout=120)
    ports = range(max(bed.expected) + 1)
    for port in ports:
        frames = []
        for number, (by, frame) in enumerate(bed.frames):
            if by == port:
                frames.append(Raw(frame))
                frames[-1].time = 1000 + number / 1000  # the switch reads the ports' files by time
        wrpcap(str(folder / f"p{port}_in.pcap"), frames, linktype=1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        thrift = str(probe.getsockname()[1])
    interfaces = [word for port in ports for word in ("-i", f"{port}@{folder}/p{port}")]
    command = ["simple_switch", *interfaces, "--use-files", str(WAIT_SECONDS), "--thrift-port", thrift, program]
    switch = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        told = subprocess.run(
            ["simple_switch_CLI", "--thrift-port", thrift],
            input="\n".join(bed.commands) + "\n",
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS - 2,
        )
        complaints = [line for line in told.stdout.splitlines() if "Error" in line or "Invalid" in line]
        assert told.returncode == 0 and complaints == [], told.stdout + told.stderr
        wanted = sum(len(frames) for frames in bed.expected.values())
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            time.sleep(1)
            files = {port: folder / f"p{port}_out.pcap" for port in ports}
            sizes = {port: file.stat().st_size for port, file in files.items() if file.exists()}
            got = {port: [bytes(p) for p in rdpcap(str(files[port]))] for port, size in sizes.items() if size > 24}
            if sum(len(frames) for frames in got.values()) >= wanted:
                break
        return got
    finally:
        switch.terminate()
        switch.wait(10)


def test_the_v1model_build_gives_what_the_standards_say(tmp_path):
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"SKIPPED: {', '.join(missing)} not on PATH")
    bed = Bed()
    fill(bed)
    got = run_switch(bed, tmp_path)
    assert got.keys() == bed.expected.keys()
    for port, frames in bed.expected.items():
        for kind in (is_downlink, is_not_downlink):
            sent = [frame.hex() for frame in got[port] if kind(frame)]
            assert sent == [frame.hex() for frame in frames if kind(frame)], f"port {port}, {kind.__name__}"


def test_the_entries_fit_the_program():
    """Without BMv2: each table, action and number of arguments is in the P4 sources."""
    text = "".join(re.sub(r"//.*", "", path.read_text()) for path in sorted(P4.glob("gnb_*.p4i")))
    arguments = {name: len(re.findall(r"[\w>]+ \w+", found)) for name, found in re.findall(ACTION, text)}
    tables = dict(re.findall(TABLE, text))
    bed = Bed()
    fill(bed)
    added = [command.replace("GnbControl.", "").split() for command in bed.commands if command.startswith("table_add")]
    assert len(added) > 50
    for _, table, action, *rest in added:
        assert re.search(rf"actions = {{.*\b{action};", tables[table]), f"{table}: {action}"
        assert len(rest) - rest.index("=>") - 1 == arguments[action], action
