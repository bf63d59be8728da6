"""Secured bearers over the whole path: N3, gNB worker, air, UE side, TUN device, and back. What crosses the air is
deciphered and verified by Python that shares no code with the gNB (tests/pdcp/ciphers.py), and by tshark."""

from __future__ import annotations

import shutil
import signal
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import air_views
import configs
import pytest
from capture import Capture
from checks import Checks, check_workers
from clear_pdus import Clear, Keys, assert_clear, decipher, key_line, key_pair
from instance import Instance
from judge import judge
from namespaces import N3Link
from nr_framing import HEURISTICS
from paths import own, splitplane
from processes import run, wait_until
from test_rlc import datagrams
from testbed import Testbed, assert_passed
from ue import configure_ue, has_addresses, tun_name

from pdcp.ciphers import CIPHERS, INTEGRITY, MAC_I_OCTETS
from pdcp.pdu import SN_OCTETS, read_sn

LINK = N3Link()
AM = {"t_poll_retransmit_ms": 20, "t_reassembly_ms": 5, "t_status_prohibit_ms": 2}
NEA2_NIA2 = {"cipher": "nea2", "integrity": "nia2", "t_reordering_ms": 200}
BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="um12", pdcp_sn=18, security={**NEA2_NIA2, "key": 1, "drb": 1}),
    configs.bearer(
        2, upf=LINK.upf_ipv4, shard=2, rlc="am18", pdcp_sn=18, am=AM, security={**NEA2_NIA2, "key": 2, "drb": 9}
    ),
    configs.bearer(
        3,
        upf=LINK.upf_ipv4,
        shard=3,
        rlc="am12",
        pdcp_sn=12,
        am=AM,
        sdap=False,
        security={**NEA2_NIA2, "key": 3, "drb": 32},
    ),
    configs.bearer(4, upf=LINK.upf_ipv4, shard=4, rlc="um12", pdcp_sn=18),
    configs.bearer(5, upf=LINK.upf_ipv4, shard=5, rlc="um12", pdcp_sn=18, security={"key": 5, "cipher": "nea3"}),
    configs.bearer(
        6, upf=LINK.upf_ipv4, shard=6, rlc="um6", pdcp_sn=12, security={"key": 6, "cipher": "nea1", "integrity": "none"}
    ),
    configs.bearer(
        7, upf=LINK.upf_ipv4, shard=7, rlc="am18", am=AM, security={"key": 7, "cipher": "nea0", "integrity": "nia3"}
    ),
    # These get new keys while they live.
    configs.bearer(8, upf=LINK.upf_ipv4, shard=8, rlc="um12", pdcp_sn=18, security={**NEA2_NIA2, "key": 8, "drb": 20}),
    configs.bearer(
        9, upf=LINK.upf_ipv4, shard=9, rlc="am18", pdcp_sn=18, am=AM, security={**NEA2_NIA2, "key": 9, "drb": 21}
    ),
    configs.bearer(
        10, upf=LINK.upf_ipv4, shard=10, rlc="am12", pdcp_sn=12, am=AM, security={**NEA2_NIA2, "key": 10, "drb": 22}
    ),
    configs.bearer(
        11, upf=LINK.upf_ipv4, shard=11, rlc="um6", pdcp_sn=12, security={"key": 11, "integrity": "none", "drb": 23}
    ),
]
UM, AM18, AM12, PLAIN, OTHER_KEY, NEA1, NIA3, REKEY_UM, REKEY_AM18, REKEY_AM12, REKEY_UNSIGNED = (
    b["ue_ipv4"] for b in BEARERS
)
SECURED = {configs.identity(shard): BEARERS[shard - 1]["security"] for shard in (1, 2, 3)}


def write_keys(path: Path, *, wrong: int = 0) -> Path:
    """The keys of all bearers; number `wrong` has others."""
    lines = []
    for bearer in BEARERS:
        if "security" not in bearer:
            continue
        number = bearer["security"]["key"]
        lines.append(key_line(number, key_pair(number + 16) if number == wrong else None))
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text("# number ciphering integrity\n" + "".join(lines))
    return path


class SecuredBed(Testbed):
    def ue_tree(self, tree: dict) -> dict:
        tree["ue"]["air"] = {"seed": 7, "downlink": {}, "uplink": {}}
        tree["ue"]["key_file"] = str(write_keys(self.folder / "ue.keys", wrong=5))
        return tree

    def set_air(self, **values: float):
        way = {
            name: values.get(name, 1 if name == "burst_length" else 0)
            for name in (
                "loss_percent",
                "burst_length",
                "duplicate_percent",
                "delay_us",
                "jitter_us",
                "reorder_percent",
            )
        }
        self.ues[0].control.call("air.set", downlink=way, uplink=way)

    def show(self, shard: int) -> dict:
        return self.gnb.control.call("bearer.show", id=configs.identity(shard))

    def settle(self):
        """Waits until both ends hold nothing back, and all that was sent is acknowledged."""
        self.set_air()

        def quiet() -> bool:
            ends = [
                end.control.call("bearer.show", id=configs.identity(n))
                for end in (self.gnb, self.ues[0])
                for n in (2, 3, 9, 10)
            ]
            held = [instance.control.stats()["totals"]["held"] for instance in (self.gnb, self.ues[0])]
            return held == [0, 0] and all(end["rlc_am"]["unacked"] == 0 for end in ends)

        wait_until("everything to be acknowledged and delivered", quiet)

    def add_keys(self, end: str, number: int):
        with (self.folder / f"{end}.keys").open("a") as file:
            file.write(key_line(number))

    def rekey(self, shard: int, number: int, ends: tuple[str, ...] = ("gnb", "ue")) -> int:
        """Adds the keys with this number to both files, then gives them to the bearer; its new epoch."""
        for end in ends:
            self.add_keys(end, number)
        done = self.gnb.control.call("bearer.rekey", id=configs.identity(shard), security={"key": number})
        assert done["changed"] and done["security"]["key"] == number
        return done["epoch"]

    def wait_for_epoch(self, shard: int, epoch: int):
        wait_until(
            "the UE side to follow",
            lambda: self.ues[0].control.call("bearer.show", id=configs.identity(shard))["epoch"] == epoch,
        )

    def assert_accounted_for(self):
        checks = Checks()
        for name, instance in (("gNB", self.gnb), ("UE", self.ues[0])):
            check_workers(checks, name, instance.control.stats())
        assert_passed(checks)

    def drops(self, end) -> dict:
        return end.control.stats()["workers"][0]["drops"]


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "secured"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("secured", BEARERS)
    tree["workers"]["w0"]["baas"] = "inline"
    tree["key_file"] = str(write_keys(folder / "gnb.keys"))
    with SecuredBed(folder, "secured", tree) as made:
        made.wait_for_neighbours()
        yield made


def keys_of(air: air_views.AirPdu, numbers: dict[tuple[int, int], int]) -> Keys | None:
    """`numbers`: of bearers that get new keys, the number of the keys by bearer and epoch."""
    security = SECURED.get(air.bearer)
    number = security["key"] if security else numbers.get((air.bearer, air.epoch))
    if number is None:
        return None
    security = security or BEARERS[number_of(air.bearer) - 1]["security"]
    return Keys(number, security["drb"], security.get("integrity", "nia2") == "nia2")


def clear_of(
    pdus: list[air_views.AirPdu],
    numbers: dict[tuple[int, int], int] | None = None,
    starts: dict[tuple[int, int, int], int] | None = None,
) -> list[Clear]:
    """What the air had of the bearers whose keys are known, as decipher() says."""
    return list(decipher(pdus, lambda air: keys_of(air, numbers or {}), starts))


def number_of(identity: int) -> int:
    """The shard, by which this file numbers bearers."""
    return next(n for n in range(1, len(BEARERS) + 1) if configs.identity(n) == identity)


@pytest.mark.parametrize("ue", [UM, AM18, AM12], ids=["um", "am18", "am12"])
def test_packets_pass_and_python_deciphers_them(bed, ue):
    bed.set_air()
    name = {UM: "um", AM18: "am18", AM12: "am12"}[ue]
    capture = Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / f"{name}.pcapng", octets=0)
    assert bed.ping(ue, 40) == 40
    assert capture.stop() == 0
    found = clear_of(list(air_views.read(bed.folder / f"{name}.pcapng")))
    assert_clear(found)
    for direction in (air_views.UPLINK, air_views.DOWNLINK):
        assert sum(one.direction == direction for one in found) >= 40
    bed.settle()
    bed.assert_accounted_for()


def test_tshark_deciphers_and_verifies(bed):
    """Bearer without SDAP headers, because tshark 4.0 leaves that octet out of the MAC-I. COUNTs began at 0, and tshark
    counts the HFN from there, so the capture is that of the test above."""
    if shutil.which("tshark") is None:
        pytest.skip("SKIPPED: tshark is not installed (make setup)")
    bed.set_air()
    pdus = [air for air in air_views.read(bed.folder / "am12.pcapng") if air.bearer == configs.identity(3)]
    frames, seen_before = [], set()
    for air in pdus:
        pdcp = (air.direction, air.pdu[air.rlc_header_bytes() :])
        if not air.is_complete_data() or pdcp in seen_before:  # on a busy machine RLC sends some again
            continue
        seen_before.add(pdcp)
        fields = struct.pack("!BBBBBBBBBBH", 2, 2, air.pdcp_sn_bits, 3, air.direction, 4, 1, 5, 32, 6, 1)
        frames.append(air_views._wrap(air, b"pdcp-nr" + fields + b"\x0f\x01", air.pdu[air.rlc_header_bytes() :]))
    path = bed.folder / "am12-tshark.pcap"
    air_views.pcap.write(path, frames)
    cipher, integrity = key_pair(3)
    options = [
        *HEURISTICS,
        *("-o", f'uat:pdcp_nr_ue_keys:"1","","{cipher.hex()}","","{integrity.hex()}"'),
        *("-o", "pdcp-nr.check_sequence_numbers:pdcp-only", "-o", "pdcp-nr.decipher_userplane:TRUE"),
        *("-o", "pdcp-nr.default_ciphering_algorithm:nea2", "-o", "pdcp-nr.default_integrity_algorithm:nia2"),
    ]
    seen = judge(path, ("pdcp-nr.direction", "ip.src", "ip.dst", "icmp.type"), options)
    assert not seen.complaints, "each MAC-I is right"
    echoes = [row for row in seen.rows if row["icmp.type"] in ("0", "8")]
    assert len(echoes) >= 80 and {row["pdcp-nr.direction"] for row in echoes} == {"0", "1"}
    assert all(AM12 in f"{row['ip.src']};{row['ip.dst']}".split(";") for row in echoes)


@pytest.mark.parametrize("ue", [NEA1, NIA3], ids=["nea1", "nia3"])
def test_other_algorithms_pass_too(bed, ue):
    """The UE side shares our classes, so that says no more than that the algorithms of both ends are the same."""
    bed.set_air()
    assert bed.ping(ue, 20) == 20
    bed.assert_accounted_for()


AIRS = {
    "20 %": {"loss_percent": 20},
    "everything": {"loss_percent": 5, "duplicate_percent": 2, "delay_us": 2000, "jitter_us": 1000},
}


@pytest.mark.parametrize("air", AIRS.values(), ids=AIRS)
@pytest.mark.parametrize("ue", [AM18, AM12], ids=["am18", "am12"])
def test_files_arrive_equal_over_a_bad_air(bed, ue, air):
    """Real TCP. What RLC sends again has the same COUNT and the same octets."""
    name = "am18" if ue == AM18 else "am12"
    bed.settle()
    capture = Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / f"file-{name}.pcapng", octets=0)
    bed.set_air(**air)
    size = 1_000_000
    file = bed.web.make("over-a-bad-air", size)
    down, up = bed.web.download(ue, file), bed.web.upload(ue, file)
    assert (down.equal, down.bytes, up.equal, up.bytes) == (True, size, True, size)
    bed.settle()
    assert capture.stop() == 0
    if ue == AM18:  # of 18 bits, the COUNT is the SN here
        found = clear_of(list(air_views.read(bed.folder / f"file-{name}.pcapng")))
        assert_clear(found)
        shown = bed.show(2)
        down_counts = {one.count for one in found if one.direction == air_views.DOWNLINK}
        assert len(found) > len({(one.direction, one.count) for one in found}), "some came twice"
        assert max(down_counts) == shown["pdcp_tx_next"] - 1
    bed.assert_accounted_for()


def test_am_delivers_in_order_over_a_bad_air(bed):
    """What RLC sends again comes late, and PDCP puts it where it belongs: the kernels see no packet out of order."""
    for downlink in (False, True):
        bed.set_air(loss_percent=20)
        numbers, _ = datagrams(bed, AM18, 400, downlink, quiet_s=30)
        assert numbers == list(range(400))
    bed.settle()
    bed.assert_accounted_for()


def test_um_waits_for_reordering_and_no_longer(bed):
    bed.set_air(loss_percent=10, delay_us=5000, jitter_us=4000)
    for downlink in (False, True):
        numbers, last = datagrams(bed, UM, 300, downlink)
        assert 200 < len(numbers) < 300 and numbers == sorted(set(numbers))
        assert last < 5
    bed.settle()
    bed.assert_accounted_for()


def test_with_another_key_nothing_is_delivered(bed):
    bed.set_air()
    before = bed.drops(bed.ues[0]).get("pdcp_integrity_failed", 0)
    gnb_before = bed.drops(bed.gnb).get("pdcp_integrity_failed", 0)
    assert bed.ping(OTHER_KEY, 10, wait_s=1) == 0
    assert bed.drops(bed.gnb).get("pdcp_integrity_failed", 0) >= gnb_before + 10
    numbers, _ = datagrams(bed, OTHER_KEY, 20, downlink=True)
    assert numbers == []
    assert bed.drops(bed.ues[0])["pdcp_integrity_failed"] >= before + 20
    assert bed.ping(PLAIN, 10) == 10
    bed.assert_accounted_for()


def test_keys_are_nowhere_but_in_their_file(bed):
    """Answers, logs, the journal."""
    octets = [key for bearer in BEARERS if "security" in bearer for key in key_pair(bearer["security"]["key"])]
    texts = [str(bed.gnb.control.call("bearer.list", limit=100)), str(bed.gnb.control.stats())]
    files = [path for path in bed.folder.iterdir() if path.suffix != ".keys" and path.is_file()]
    for key in octets:
        assert not any(key.hex() in text for text in texts)
        for path in files:
            content = path.read_bytes()
            assert key not in content and key.hex().encode() not in content, path


def memory_of(process: int, in_core_dumps: bool) -> Iterator[bytes]:
    """The memory of the process that a core dump would have, or that none has: what is marked `dd` (MADV_DONTDUMP)."""
    pieces, area = [], None
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):
            first, last = (int(text, 16) for text in words[0].split("-"))
            area = (first, last) if words[1].startswith("rw") else None
        elif words[0] == "VmFlags:" and area and ("dd" not in words) == in_core_dumps and "io" not in words:
            pieces.append(area)
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for first, last in pieces:
            for at in range(first, last, 1 << 24):
                try:
                    memory.seek(at)
                    yield memory.read(min(1 << 24, last - at))
                except OSError:
                    break  # a mapping that no one can read, such as [vvar]


@pytest.mark.nightly
def test_keys_are_in_no_core_dump(bed):
    keys = [key for bearer in BEARERS if "security" in bearer for key in key_pair(bearer["security"]["key"])]
    for instance in (bed.gnb, bed.ues[0]):
        octets = 0
        for piece in memory_of(instance.process.child.pid, in_core_dumps=True):
            octets += len(piece)
            for key in keys:
                assert key not in piece and key.hex().encode() not in piece, instance.process.name
        assert octets > 1 << 20
    secret = memory_of(bed.gnb.process.child.pid, in_core_dumps=False)
    assert any(keys[0].hex().encode() in piece for piece in secret), "this test would find a key"


def kill(instance: Instance) -> None:
    instance.process.signal(signal.SIGKILL)
    instance.process.child.wait()
    instance.processes.children.remove(instance.process)


def again(bed: SecuredBed, name: str, number: int) -> None:
    """One of the two is killed, and starts again."""
    if name == "gnb":
        kill(bed.gnb)
        bed.gnb = Instance(bed.processes, f"gnb-{number}", "run", bed.gnb.config, bed.network.gnb, fresh=False)
        return bed.wait_for_neighbours()
    ue = bed.ues[0]
    kill(ue)
    bed.ues[0] = Instance(bed.processes, f"ue-{number}", "ue", ue.config, bed.network.ue)
    configure_ue(bed.network, bed.ues[0], bed.bearers())
    wait_until("the addresses", lambda: has_addresses(bed.network, tun_name(ue.config), BEARERS[0]))


def test_no_count_is_used_twice_after_restarts(bed):
    """Over all PDUs of the run, by key, bearer, direction and COUNT."""
    bed.set_air()
    capture = Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / "restarts.pcapng", octets=0)
    for number, name in enumerate(("", "ue", "gnb", "ue", "gnb")):
        if name:
            again(bed, name, number)
        for ue in (UM, AM18):
            wait_until("a packet to pass", lambda ue=ue: bed.ping(ue, 1, wait_s=1) == 1)
            assert bed.ping(ue, 10) == 10
    assert capture.stop() == 0
    pdus = []
    for path in ("um", "am18", "restarts"):
        pdus += list(air_views.read(bed.folder / f"{path}.pcapng"))
    found = [one for one in clear_of(pdus) if one.bearer != configs.identity(3)]
    assert_clear(found)
    assert sum(one.bearer == configs.identity(1) for one in found) > 100


SPARE = count(12)  # numbers of keys that no bearer had


class Rekeyed:
    """One bearer that gets new keys while a capture runs: which epoch has which keys, and what the air had of it."""

    def __init__(self, bed: SecuredBed, shard: int, name: str):
        self.bed, self.shard, self.path = bed, shard, bed.folder / f"rekey-{name}.pcapng"
        self.identity = configs.identity(shard)
        shown = bed.show(shard)
        self.numbers = {(self.identity, shown["epoch"]): shown["security"]["key"]}
        self.starts = {}
        for direction, end in ((air_views.DOWNLINK, bed.gnb), (air_views.UPLINK, bed.ues[0])):
            key = shown["security"]["key"] if shown["rlc"].startswith("um") else 0
            tx_next = end.control.call("bearer.show", id=self.identity)["pdcp_tx_next"]
            self.starts[self.identity, direction, key] = tx_next
        self.refused = self._refused()
        self.capture = Capture(bed.processes, bed.network.ue, "ue-air", self.path, octets=0)

    def _refused(self) -> list[int]:
        return [
            self.bed.drops(end).get(reason, 0)
            for end in (self.bed.gnb, self.bed.ues[0])
            for reason in ("pdcp_integrity_failed", "pdcp_keys_changed", "not_ip")
        ]

    def again(self, wait: bool = False) -> None:
        number = next(SPARE)
        epoch = self.bed.rekey(self.shard, number)
        assert (self.identity, epoch) not in self.numbers
        self.numbers[self.identity, epoch] = number
        if wait:
            self.bed.wait_for_epoch(self.shard, epoch)

    def judge(self) -> list[Clear]:
        """No PDU was refused that the other end protected, each is clear to Python, and no COUNT comes twice."""
        assert self._refused() == self.refused
        assert self.capture.stop() == 0
        air = [one for one in air_views.read(self.path) if one.bearer == self.identity]
        assert {one.epoch for one in air} <= {epoch for _, epoch in self.numbers}
        found = clear_of(air, self.numbers, self.starts)
        assert_clear(found)
        return found


def under_rekeys(
    bed: SecuredBed, shard: int, name: str, loss_percent: float, change: Callable[[Rekeyed], None]
) -> tuple[Rekeyed, list[Clear]]:
    """Packets of an AM bearer flow both ways over a bad air while `change` gives it new keys. Each comes once and in
    order, and no COUNT is missing. Returns what the air had, too."""
    ue = BEARERS[shard - 1]["ue_ipv4"]
    bed.settle()
    rekeyed = Rekeyed(bed, shard, f"{name}-{shard}")
    bed.set_air(loss_percent=loss_percent, delay_us=2000, jitter_us=1000)
    with ThreadPoolExecutor() as pool:
        ways = [pool.submit(datagrams, bed, ue, 3000, downlink, 30) for downlink in (False, True)]
        change(rekeyed)
        for way in ways:
            assert way.result()[0] == list(range(3000)), "each came once, and in order"
    rekeyed.again(wait=True)
    assert bed.ping(ue, 20) == 20
    bed.settle()
    found = rekeyed.judge()
    for direction in (air_views.UPLINK, air_views.DOWNLINK):
        counts = {one.count for one in found if one.direction == direction}
        assert counts == set(range(min(counts), max(counts) + 1)), "COUNTs go on, and none is missing"
    return rekeyed, found


@pytest.mark.parametrize("shard", [9, 10], ids=["am18", "am12"])
def test_am_gets_new_keys_over_a_bad_air_and_loses_nothing(bed, shard):
    """Some changes come while the one before is not known at the UE side, or not finished."""

    def change(rekeyed: Rekeyed) -> None:
        for pause in (0.3, 0.3, 0, 0.4, 0.05, 0.5):
            time.sleep(pause)
            rekeyed.again()

    rekeyed, found = under_rekeys(bed, shard, "am", 10, change)
    first, *_, last = rekeyed.numbers.values()
    assert {first, last} <= {one.key for one in found} and len({one.key for one in found}) >= 4
    before = {(one.direction, one.count) for one in found if one.key == first}
    after = {(one.direction, one.count) for one in found if one.key != first}
    assert before & after, "what was not acknowledged was protected again with the same COUNT"
    bed.assert_accounted_for()


def test_tcp_goes_on_while_keys_change(bed):
    bed.settle()
    rekeyed = Rekeyed(bed, 9, "tcp")
    bed.set_air(loss_percent=3, delay_us=3000)
    size = 8_000_000
    file = bed.web.make("while-keys-change", size)
    with ThreadPoolExecutor() as pool:
        ways = [pool.submit(way, REKEY_AM18, file) for way in (bed.web.download, bed.web.upload)]
        for _ in range(6):
            time.sleep(0.15)
            rekeyed.again()
        for way in ways:
            done = way.result()
            assert (done.equal, done.bytes) == (True, size)
    bed.settle()
    assert len({one.key for one in rekeyed.judge()}) > 2
    bed.assert_accounted_for()


@pytest.mark.parametrize("shard", [8, pytest.param(11, marks=pytest.mark.nightly)], ids=["signed", "unsigned"])
def test_um_gets_new_keys_and_delivers_nothing_that_others_protected(bed, shard):
    """What is on its way when keys change is lost. Without integrity protection, only the epoch tells it apart."""
    ue = BEARERS[shard - 1]["ue_ipv4"]
    bed.set_air(delay_us=3000, jitter_us=1000)
    rekeyed = Rekeyed(bed, shard, f"um-{shard}")
    other_epoch = [bed.drops(end).get("rlc_other_epoch", 0) for end in (bed.gnb, bed.ues[0])]
    with ThreadPoolExecutor() as pool:
        ways = [pool.submit(datagrams, bed, ue, 3000, downlink) for downlink in (False, True)]
        for _ in range(3):
            time.sleep(0.4)
            rekeyed.again()
        for way in ways:
            numbers, _ = way.result()
            assert numbers == sorted(set(numbers)) and set(numbers) <= set(range(3000))
            assert 300 < len(numbers) < 3000
    rekeyed.again(wait=True)
    assert bed.ping(ue, 20) == 20
    found = rekeyed.judge()
    for end, before in zip((bed.gnb, bed.ues[0]), other_epoch, strict=True):
        assert bed.drops(end).get("rlc_other_epoch", 0) > before
    last = list(rekeyed.numbers.values())[-1]
    for direction in (air_views.UPLINK, air_views.DOWNLINK):
        counts = {one.count for one in found if (one.direction, one.key) == (direction, last)}
        assert counts == set(range(len(counts))) and len(counts) >= 20, "COUNTs begin anew"
    bed.assert_accounted_for()


def test_new_keys_survive_a_crash_of_either_end(bed):
    """Each end is killed right after a change of keys, and goes on with the new ones."""
    bed.set_air()
    for shard, ue in ((8, REKEY_UM), (9, REKEY_AM18)):
        capture = Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / f"rekey-kill-{shard}.pcapng", octets=0)
        known = {bed.show(shard)["security"]["key"]}
        for number, name in enumerate(("gnb", "ue")):
            assert bed.ping(ue, 10) == 10
            fresh = next(SPARE)
            bed.rekey(shard, fresh)
            known.add(fresh)
            again(bed, name, 10 * shard + number)
            wait_until("a packet to pass", lambda ue=ue: bed.ping(ue, 1, wait_s=1) == 1)
            assert bed.ping(ue, 10) == 10
            assert bed.show(shard)["security"]["key"] == fresh
        assert capture.stop() == 0
        pdus = [
            one
            for one in air_views.read(bed.folder / f"rekey-kill-{shard}.pcapng")
            if one.bearer == configs.identity(shard)
        ]
        assert_clear_with_any(pdus, known)


def assert_clear_with_any(pdus: list[air_views.AirPdu], numbers: set[int]) -> None:
    """The MAC-I says which keys a PDU has; no (key, direction, COUNT) has two PDUs. COUNTs are small here."""
    used: dict[tuple[int, int, int], bytes] = {}
    for air in pdus:
        if not air.is_complete_data():
            continue
        security = BEARERS[number_of(air.bearer) - 1]["security"]
        pdu = air.pdu[air.rlc_header_bytes() :]
        clear = SN_OCTETS[air.pdcp_sn_bits] + air.sdap
        for number, hfn in ((number, hfn) for number in numbers for hfn in range(4)):
            cipher, integrity = key_pair(number)
            at = (hfn << air.pdcp_sn_bits) + read_sn(air.pdcp_sn_bits, pdu)
            plain = pdu[:clear] + CIPHERS["nea2"](cipher, at, security["drb"] - 1, air.direction, pdu[clear:])
            mac = INTEGRITY["nia2"](integrity, at, security["drb"] - 1, air.direction, plain[:-MAC_I_OCTETS])
            if plain[-MAC_I_OCTETS:] == mac:
                assert used.setdefault((number, air.direction, at), pdu) == pdu
                break
        else:
            raise AssertionError(f"no keys fit a PDU of epoch {air.epoch}")
    assert {number for number, _, _ in used} == numbers


def test_a_ue_side_that_gets_the_keys_late_follows_then(bed):
    """Until then nothing passes, and RLC AM gives up nothing."""
    bed.set_air()
    number = next(SPARE)
    with ThreadPoolExecutor() as pool:
        ways = [pool.submit(datagrams, bed, REKEY_AM18, 1500, downlink, 30) for downlink in (False, True)]
        time.sleep(0.2)
        epoch = bed.rekey(9, number, ends=("gnb",))
        time.sleep(2)  # more than max_retx times t-PollRetransmit
        assert not any(way.done() for way in ways)
        bed.add_keys("ue", number)
        bed.wait_for_epoch(9, epoch)
        for way in ways:
            assert way.result()[0] == list(range(1500))
    said = [line for line in bed.ues[0].process.log.read_text().splitlines() if f"no keys with number {number}" in line]
    assert len(said) == 1, said
    bed.settle()
    bed.assert_accounted_for()


def test_ctl_gives_new_keys_once_and_says_what_cannot_be(bed):
    bed.set_air()

    def ctl(*words: object) -> tuple[int, str]:
        done = run([splitplane(), "ctl", "--config", bed.gnb.config, "bearer", "rekey", *map(str, words)], check=False)
        return done.returncode, done.stdout + done.stderr

    number = next(SPARE)
    bed.wait_for_epoch(8, bed.rekey(8, number))
    assert ctl(configs.identity(8), "--key", number) == (
        0,
        f"{configs.identity(8):#010x} had already the keys with number {number}\n",
    )
    for shard, key, text in (
        (8, 60, "no keys with number 60"),
        (8, 1, "not above the bearer's present key"),
        (4, 12, "has no security"),
    ):
        code, said = ctl(configs.identity(shard), "--key", key)
        assert code != 0 and text in said and said.count("\n") == 1, said
    assert bed.ping(REKEY_UM, 10) == 10
