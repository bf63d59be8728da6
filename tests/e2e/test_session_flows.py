"""Several bearers of one session over the whole path: UPF with QoS flows, gNB, air that loses, UE side, and back. Each
flow takes its bearer in both directions, and a flow that moves keeps its order. tshark and Python that shares no code
with the gNB read what crosses the air."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import air_views
import configs
import pytest
from air_views import DOWNLINK, UPLINK, AirPdu
from capture import Capture
from checks import Checks, check_workers
from clear_pdus import Clear, Keys, assert_clear, decipher, key_line
from instance import Instance
from judge import PDCP, judge
from namespaces import N3Link
from paths import own, splitplane
from processes import PATIENCE, run, wait_until
from testbed import Testbed, assert_passed
from traffic import PORT as WEB_PORT
from upf import SERVER_IPV4, Flow, Tunnel
from wire import SO_RCVBUFFORCE, socket_in

LINK = N3Link()
UE = "10.45.0.2"
UL_TEID = 0x3001
AM = {"t_poll_retransmit_ms": 20, "t_reassembly_ms": 5, "t_status_prohibit_ms": 2}
NEA2_NIA2 = {"cipher": "nea2", "integrity": "nia2", "t_reordering_ms": 1000}
SESSION = {
    "upf": LINK.upf_ipv4,
    "ul_teid": UL_TEID,
    "shard": 5,
    "default_drb": 1,
    "ue_ipv4": UE,
    "bearers": [
        {"drb": 1, "rlc": "am18", "am": AM},
        {"drb": 2, "rlc": "um12", "pdcp_sn": 12, "flows": [5]},
        {"drb": 3, "rlc": "am18", "am": AM, "security": {**NEA2_NIA2, "key": 1}, "flows": [7]},
        {"drb": 4, "rlc": "am12", "am": AM, "security": {**NEA2_NIA2, "key": 2}},
        {"drb": 5, "rlc": "um12", "security": {**NEA2_NIA2, "key": 1, "integrity": "nia1"}, "reflective": True},
        {"drb": 6, "rlc": "um12", "security": {**NEA2_NIA2, "key": 2, "t_reordering_ms": 50}, "flows": [6]},
    ],
}
DEFAULT, PROBE, SECURED, OTHER, REFLECTIVE, SECURED_UM = (configs.identity(5, place) for place in range(6))
# The server's port of each flow beside the default one.
PORTS = {5: 5305, 6: 5306, 7: 5307}


@dataclass(frozen=True)
class Exchange:
    """Numbers of datagrams as they came; `sent` ones were sent."""

    sent: int
    down: list[int]
    up: list[int]


class FlowBed(Testbed):
    def ue_tree(self, tree: dict) -> dict:
        tree["ue"]["air"] = {"seed": 7, "downlink": {}, "uplink": {}}
        tree["ue"]["key_file"] = self.tree["key_file"]
        return tree

    def tunnels(self) -> list[Tunnel]:
        flows = tuple(Flow(port, qfi) for qfi, port in PORTS.items())
        return [Tunnel(self.session()["id"], UL_TEID, LINK.gnb_ipv4, LINK.upf_ipv4, 9, ue_ipv4=UE, flows=flows)]

    def session(self) -> dict:
        (session,) = self.gnb.control.call("session.list")["sessions"]
        return session

    def move(self, qfi: int, drb: int):
        self.gnb.control.call("session.flow", id=DEFAULT, qfi=qfi, drb=drb)

    def ue_follows(self, qfi: int, bearer: int):
        """Waits until the UE sends that flow on that bearer."""
        wait_until(
            "the UE to have the rule",
            lambda: qfi in self.ues[0].control.call("bearer.show", id=bearer)["session"]["flows"],
        )

    def set_air(self, loss_percent: float = 0):
        way = {"loss_percent": loss_percent}
        self.ues[0].control.call("air.set", downlink=way, uplink=way)

    def settle(self):
        """Waits until both ends hold nothing back, and all that was sent is acknowledged."""
        self.set_air()

        def quiet() -> bool:
            held = [end.control.stats()["totals"]["held"] for end in (self.gnb, self.ues[0])]
            acknowledged = [
                end.control.call("bearer.show", id=bearer)["rlc_am"]["unacked"] == 0
                for end in (self.gnb, self.ues[0])
                for bearer in (DEFAULT, SECURED, OTHER)
            ]
            return held == [0, 0] and all(acknowledged)

        wait_until("everything to be acknowledged and delivered", quiet)

    def kill_gnb(self, name: str):
        """It starts again with its journal."""
        self.gnb.process.signal(signal.SIGKILL)
        self.gnb.process.child.wait()
        self.processes.children.remove(self.gnb.process)
        self.gnb = Instance(self.processes, name, "run", self.gnb.config, self.network.gnb, fresh=False)
        self.wait_for_neighbours()
        wait_until("packets to pass again", lambda: self.exchange(7, 5, quiet_s=0.5).up == list(range(5)))

    def drops(self) -> str:
        """Where packets went, for who reads that some did not arrive."""
        ends = {"gnb": self.gnb, "ue": self.ues[0]}
        found = {name: [worker["drops"] for worker in end.control.stats()["workers"]] for name, end in ends.items()}
        return json.dumps(found | {"upf": self.upf.stats()["totals"], "flows": [self.counted(), self.counted_by_ue()]})

    def assert_accounted_for(self):
        checks = Checks()
        for name, instance in (("gNB", self.gnb), ("UE", self.ues[0])):
            check_workers(checks, name, instance.control.stats())
        assert_passed(checks)
        totals = self.upf.stats()["totals"]
        assert totals["ul_refused"] == 0, "each uplink packet has the TEID of the session and one of its flows"

    def counted(self) -> dict[int, dict]:
        """What each QoS flow carried, by the gNB."""
        session = self.gnb.control.call("session.show", id=DEFAULT)
        return {flow["qfi"]: flow for flow in session["flows_counted"]}

    def counted_by_ue(self) -> dict[int, dict]:
        session = self.ues[0].control.call("bearer.show", id=DEFAULT)["session"]
        return {flow["qfi"]: flow for flow in session["flows_counted"]}

    def assert_flows_add_up(self):
        """The flows together are what the UPF sent and received. Call it after settle()."""
        flows, totals = self.counted().values(), self.upf.stats()["totals"]
        for way, prefix in (("downlink", "dl"), ("uplink", "ul")):
            counted = [sum(flow[way][key] for flow in flows) for key in ("sdus", "bytes")]
            assert counted == [totals[f"{prefix}_packets"], totals[f"{prefix}_bytes"]], way

    def exchange(self, qfi: int, count: int, during: Callable[[], None] = lambda: None, quiet_s: float = 2) -> Exchange:
        """Datagrams of one flow both ways at the same time, one a millisecond. The server begins: RQI of its packets
        gives the UE's answers their flow."""
        with Ends(self, PORTS[qfi]) as (server, client):
            target = client.getsockname()
            client.settimeout(0.2)
            for _ in range(50):
                server.sendto(b"begin", target)
                try:
                    client.recv(64)
                    break
                except TimeoutError:
                    continue
            down, up = Receiver(client, quiet_s), Receiver(server, quiet_s)
            senders = [Sender(server, target, count), Sender(client, (SERVER_IPV4, PORTS[qfi]), count)]
            for one in (down, up, *senders):
                one.start()
            during()
            for one in senders:
                one.join()
            for one in (down, up):
                one.done.set()
                one.join()
            return Exchange(count, down.numbers, up.numbers)


class Ends:
    """Sockets of the server and of the UE."""

    def __init__(self, bed: FlowBed, port: int):
        self.server = socket_in(bed.network.core, socket.AF_INET, socket.SOCK_DGRAM)
        self.client = socket_in(bed.network.ue, socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind((SERVER_IPV4, port))
        self.client.bind((UE, 0))
        for one in (self.server, self.client):
            one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)

    def __enter__(self) -> tuple[socket.socket, socket.socket]:
        return self.server, self.client

    def __exit__(self, *_):
        self.server.close()
        self.client.close()


class Sender(threading.Thread):
    def __init__(self, at: socket.socket, to: tuple[str, int], count: int):
        super().__init__()
        self.at, self.to, self.count = at, to, count

    def run(self):
        for number in range(self.count):
            self.at.sendto(number.to_bytes(4, "big"), self.to)
            time.sleep(0.001)


class Receiver(threading.Thread):
    """Takes numbers until none came for a while after the last was sent."""

    def __init__(self, at: socket.socket, quiet_s: float):
        super().__init__()
        self.at, self.quiet_s, self.numbers, self.done = at, quiet_s, [], threading.Event()
        at.settimeout(0.1)

    def run(self):
        last = time.monotonic()
        while not self.done.is_set() or time.monotonic() - last < self.quiet_s:
            try:
                datagram = self.at.recv(64)
            except TimeoutError:
                continue
            last = time.monotonic()
            if datagram != b"begin":
                self.numbers.append(int.from_bytes(datagram, "big"))


def datagrams(count: int, payload: int) -> int:
    """Octets of so many IPv4 packets with UDP."""
    return count * (20 + 8 + payload)


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "flows"
    folder.mkdir(parents=True, exist_ok=True)
    keys = folder / "flows.keys"
    keys.unlink(missing_ok=True)
    keys.touch(mode=0o600)
    keys.write_text("".join(key_line(number) for number in (1, 2)))
    tree = configs.one_worker("flows", []) | {"sessions": [SESSION], "key_file": str(keys)}
    tree["workers"]["w0"]["baas"] = "inline"
    with FlowBed(folder, "flows", tree) as made:
        made.wait_for_neighbours()
        yield made


def captured(bed: FlowBed, name: str) -> Capture:
    return Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / f"{name}.pcapng", octets=0, packets=200000)


def sdap_of(air: AirPdu) -> int:
    """The SDAP octet, which is never ciphered."""
    return air.pdu[air.rlc_header_bytes() + (2 if air.pdcp_sn_bits == 12 else 3)]


def is_end_marker(air: AirPdu) -> bool:
    return air.direction == UPLINK and not sdap_of(air) & 0x80


def bearers_of(pdus: list[AirPdu], qfi: int, direction: int) -> Counter:
    """On which bearers the data PDUs of a flow were."""
    found = [air for air in pdus if air.direction == direction and sdap_of(air) & 0x3F == qfi]
    return Counter(air.bearer for air in found if not is_end_marker(air))


def data_pdus(bed: FlowBed, name: str) -> list[AirPdu]:
    return [air for air in air_views.read(bed.folder / f"{name}.pcapng") if air.is_complete_data()]


def order_of_bearers(pdus: list[AirPdu], qfi: int, direction: int) -> list[int]:
    """The bearers of a flow one after the other, by the first transmission of each of its PDUs."""
    seen, order = set(), []
    for air in pdus:
        one = (air.bearer, air.pdcp_sn())
        if air.direction != direction or sdap_of(air) & 0x3F != qfi or one in seen:
            continue
        seen.add(one)
        if order[-1:] != [air.bearer]:
            order.append(air.bearer)
    return order


FIELDS = ("pdcp-nr.ueid", "pdcp-nr.direction", "sdap.qfi", "ip.proto", "tcp.port", "udp.port")


def test_two_flows_have_different_treatment_both_ways_and_tshark_says_which(bed):
    """Real TCP on the default bearer, RLC AM; a probe at the same time on RLC UM. The air loses 5 %."""
    bed.set_air(loss_percent=5)
    capture = captured(bed, "treatment")
    size, transfers = 700_000, []
    file = bed.web.make("default-flow", size)

    def transfer():
        transfers.extend((bed.web.download(UE, file), bed.web.upload(UE, file)))

    probe = bed.exchange(5, 1500, during=transfer)
    assert capture.stop() == 0
    assert [(one.equal, one.bytes) for one in transfers] == [(True, size)] * 2
    for numbers in (probe.down, probe.up):
        assert 0.85 * probe.sent < len(numbers) < probe.sent, "UM does not send again what the air loses"
        assert numbers == sorted(set(numbers))
    am, um = (bed.gnb.control.call("bearer.show", id=bearer) for bearer in (DEFAULT, PROBE))
    assert am["rlc_am"]["retransmitted"] > 0 and "rlc_am" not in um

    _, frames, ues = air_views.views(
        air for air in air_views.read(bed.folder / "treatment.pcapng") if air.bearer in (DEFAULT, PROBE)
    )
    path = bed.folder / "treatment-pdcp.pcap"
    air_views.pcap.write(path, frames)
    bearer_of = {str(ue): bearer for bearer, ue in ues.items()}
    seen = Counter()
    for row in judge(path, FIELDS, PDCP).rows:
        if f"{WEB_PORT}" in row["tcp.port"].split(";"):
            flow = "tcp"
        elif f"{PORTS[5]}" in row["udp.port"].split(";"):
            flow = "probe"
        else:
            continue
        seen[flow, int(row["pdcp-nr.direction"]), int(row["sdap.qfi"]), bearer_of[row["pdcp-nr.ueid"]]] += 1
    assert sorted(seen) == [
        ("probe", UPLINK, 5, PROBE),
        ("probe", DOWNLINK, 5, PROBE),
        ("tcp", UPLINK, 9, DEFAULT),
        ("tcp", DOWNLINK, 9, DEFAULT),
    ], seen
    bed.settle()
    bed.assert_accounted_for()


def test_a_moved_flow_keeps_its_order_and_loses_nothing(bed):
    """From one secured AM bearer to another one and back, over an air that loses 20 %, while datagrams go both ways."""
    bed.settle()
    before = bed.gnb.control.stats()["workers"][0]["drops"].get("sdap_end_marker", 0)
    assert 7 not in bed.counted()
    capture = captured(bed, "moved")
    bed.set_air(loss_percent=20)

    def moves():
        for drb, bearer in ((4, OTHER), (3, SECURED)):
            time.sleep(1)
            bed.move(7, drb)
            bed.ue_follows(7, bearer)

    moved = bed.exchange(7, 6000, during=moves, quiet_s=PATIENCE / 10)
    bed.settle()
    assert moved.down == list(range(moved.sent)), bed.drops()
    assert moved.up == list(range(moved.sent)), bed.drops()
    assert capture.stop() == 0
    pdus = data_pdus(bed, "moved")
    for direction in (DOWNLINK, UPLINK):
        on = bearers_of(pdus, 7, direction)
        assert set(on) == {SECURED, OTHER} and min(on.values()) > 100, on
    assert order_of_bearers(pdus, 7, DOWNLINK) == [SECURED, OTHER, SECURED], "no packet overtakes at the gNB"
    markers = [(air.bearer, sdap_of(air)) for air in pdus if is_end_marker(air)]
    assert set(markers) == {(SECURED, 7), (OTHER, 7)}, "one on each bearer that the flow left"
    assert bed.gnb.control.stats()["workers"][0]["drops"]["sdap_end_marker"] == before + 2
    flow = bed.counted()[7]
    begins = flow["downlink"]["sdus"] - moved.sent
    assert begins >= 1 and flow["drb"] == 3
    assert flow["downlink"]["bytes"] == datagrams(moved.sent, 4) + datagrams(begins, 5)
    assert flow["uplink"] == {"sdus": moved.sent, "bytes": datagrams(moved.sent, 4)}, "end markers are not among them"
    assert bed.counted_by_ue()[7] == flow, "RLC AM delivers what the other end sent"
    bed.assert_flows_add_up()
    bed.assert_accounted_for()


def test_a_flow_on_a_reflective_bearer_takes_its_uplink_there(bed):
    """RDI alone moves the uplink: the gNB tells the UE no rule for the flows of such a bearer."""
    bed.settle()
    capture = captured(bed, "reflective")

    def move():
        time.sleep(0.5)
        bed.move(5, 5)
        time.sleep(2)
        bed.move(5, 2)

    moved = bed.exchange(5, 4000, during=move)
    assert moved.down == list(range(moved.sent))
    assert moved.up == list(range(moved.sent))
    assert capture.stop() == 0
    pdus = data_pdus(bed, "reflective")
    for direction in (DOWNLINK, UPLINK):
        on = bearers_of(pdus, 5, direction)
        assert set(on) == {PROBE, REFLECTIVE} and on[REFLECTIVE] > 500, on
    assert all(sdap_of(air) & 0x80 for air in pdus if air.bearer == REFLECTIVE and air.direction == DOWNLINK)
    bed.settle()
    bed.assert_flows_add_up()
    bed.assert_accounted_for()


@pytest.mark.nightly
def test_a_killed_gnb_uses_no_count_of_a_secured_session_twice(bed):
    bed.settle()
    capture = captured(bed, "killed")
    assert bed.exchange(7, 200).down == list(range(200))
    bed.kill_gnb("gnb-again")
    # COUNTs go on behind a lease, so the first packet on each bearer waits for t-Reordering.
    bed.move(7, 4)
    bed.exchange(7, 5)
    bed.move(7, 3)
    bed.ue_follows(7, SECURED)
    assert bed.exchange(7, 200).down == list(range(200))
    assert capture.stop() == 0
    pdus = [air for air in data_pdus(bed, "moved") + data_pdus(bed, "killed") if air.bearer in (SECURED, OTHER)]
    used: dict[tuple[int, int, int], bytes] = {}
    for air in pdus:
        # Of 18 bits and few packets, the SN is the COUNT.
        one = (air.bearer, air.direction, air.pdcp_sn())
        pdu = air.pdu[air.rlc_header_bytes() :]
        assert used.setdefault(one, pdu) == pdu, one
    assert bed.session()["bearers"][2]["security"]["key"] == 1


SPARE = count(3)  # numbers of keys that no bearer had
DRBS = {SECURED: 3, OTHER: 4, SECURED_UM: 6}  # of the bearers that Python deciphers


class Rekeyed:
    """The session while its bearers get new keys: which epoch of a bearer has which keys."""

    def __init__(self, bed: FlowBed):
        self.bed, self.numbers, self.starts = bed, {}, {}
        for bearer in DRBS:
            shown = {end: end.control.call("bearer.show", id=bearer) for end in (bed.gnb, bed.ues[0])}
            number = shown[bed.gnb]["security"]["key"]
            self.numbers[bearer, shown[bed.gnb]["epoch"]] = number
            for direction, end in ((DOWNLINK, bed.gnb), (UPLINK, bed.ues[0])):
                self.starts[bearer, direction, number if bearer == SECURED_UM else 0] = shown[end]["pdcp_tx_next"]
        self.refused = self._refused()

    def _refused(self) -> list[int]:
        return [
            end.control.stats()["workers"][0]["drops"].get(reason, 0)
            for end in (self.bed.gnb, self.bed.ues[0])
            for reason in ("pdcp_integrity_failed", "pdcp_keys_changed", "not_ip", "rlc_tx_lost")
        ]

    def again(self, bearer: int | None = None) -> int:
        """New keys for one bearer, or for the session; their number."""
        number = next(SPARE)
        with Path(self.bed.tree["key_file"]).open("a") as file:
            file.write(key_line(number))
        if bearer is None:
            rows = self.bed.gnb.control.call("session.rekey", id=DEFAULT, security={"key": number})["bearers"]
            assert [row["drb"] for row in rows] == [3, 4, 5, 6]
        else:
            rows = [self.bed.gnb.control.call("bearer.rekey", id=bearer, security={"key": number})]
        for row in rows:
            assert row["changed"] and (row["id"], row["epoch"]) not in self.numbers
            self.numbers[row["id"], row["epoch"]] = number
        return number

    def clear(self, name: str) -> list[Clear]:
        """No PDU was refused that the other end protected, each is clear to Python, and no COUNT comes twice."""
        assert self._refused() == self.refused
        air = [one for one in air_views.read(self.bed.folder / f"{name}.pcapng") if one.bearer in DRBS]
        assert {(one.bearer, one.epoch) for one in air} <= set(self.numbers)
        found = list(
            decipher(air, lambda one: Keys(self.numbers[one.bearer, one.epoch], DRBS[one.bearer]), self.starts)
        )
        assert_clear(found)
        return found


@pytest.mark.nightly
def test_bearers_of_a_session_get_new_keys_while_their_flows_pass_and_one_moves(bed):
    """Flow 7 on RLC AM and flow 6 on RLC UM, over an air that loses 10 %. Flow 7 moves there and back just before all
    bearers get new keys: once the UE side learns of both at once, once it knows of the move already."""
    bed.settle()
    rekeyed = Rekeyed(bed)
    capture = captured(bed, "rekeyed")
    bed.set_air(loss_percent=10)

    def changes():
        for pause in (0.4, 0.1, 0.5):
            time.sleep(pause)
            rekeyed.again(SECURED)
            rekeyed.again(SECURED_UM)
        time.sleep(0.5)
        bed.move(7, 4)
        rekeyed.again()
        bed.ue_follows(7, OTHER)
        time.sleep(0.4)
        rekeyed.again(OTHER)
        time.sleep(0.4)
        bed.move(7, 3)
        bed.ue_follows(7, SECURED)
        rekeyed.again()

    with ThreadPoolExecutor() as pool:
        other = pool.submit(bed.exchange, 6, 5000)
        moved = bed.exchange(7, 5000, during=changes, quiet_s=PATIENCE / 10)
        stream = other.result()
    assert moved.down == list(range(moved.sent)), bed.drops()
    assert moved.up == list(range(moved.sent)), bed.drops()
    for numbers in (stream.down, stream.up):
        assert numbers == sorted(set(numbers)) and 0.2 * stream.sent < len(numbers) < stream.sent
    bed.settle()
    last = rekeyed.again()
    stream = bed.exchange(6, 100)
    assert stream.up[-1:] == [99] and stream.down[-1:] == [99], "both ends have the last keys"
    assert bed.exchange(7, 100).up == list(range(100))
    bed.settle()
    assert capture.stop() == 0
    found = rekeyed.clear("rekeyed")
    for bearer, fewest in ((SECURED, 5), (OTHER, 2), (SECURED_UM, 4)):
        keys = {one.key for one in found if one.bearer == bearer}
        assert len(keys) >= fewest, (bearer, keys)
    for direction in (UPLINK, DOWNLINK):
        counts = {one.count for one in found if (one.bearer, one.direction) == (SECURED, direction)}
        assert counts == set(range(min(counts), max(counts) + 1)), "COUNTs of AM go on, and none is missing"
        first = [one.count for one in found if (one.bearer, one.key, one.direction) == (SECURED_UM, last, direction)]
        assert first[0] == 0, "those of UM begin anew"
    pdus = data_pdus(bed, "rekeyed")
    assert order_of_bearers(pdus, 7, DOWNLINK) == [SECURED, OTHER, SECURED], "no packet overtakes at the gNB"
    assert {air.bearer for air in pdus if is_end_marker(air)} == {SECURED, OTHER}
    bed.assert_accounted_for()

    # The configuration has numbers 1 and 2.
    capture = captured(bed, "rekeyed-killed")
    bed.kill_gnb("gnb-rekeyed")
    assert bed.exchange(7, 200).down == list(range(200))
    assert bed.exchange(6, 50).down
    assert capture.stop() == 0
    keys = [bearer["security"]["key"] for bearer in bed.session()["bearers"] if "security" in bearer]
    assert keys == [last] * 4
    air = [one for one in air_views.read(bed.folder / "rekeyed-killed.pcapng") if one.bearer in DRBS]
    ends = {}
    for one in found:
        counts = (one.bearer, one.direction, last if one.bearer == SECURED_UM else 0)
        if counts[2] in (0, one.key):
            ends[counts] = max(ends.get(counts, 0), one.count)
    assert_clear(found + list(decipher(air, lambda one: Keys(last, DRBS[one.bearer]), ends)))


def test_ctl_gives_a_session_new_keys_and_says_what_cannot_be(bed):
    def ctl(*words: object) -> tuple[int, str]:
        command = [splitplane(), "ctl", "--config", bed.gnb.config, "session", "rekey", *map(str, words)]
        done = run(command, check=False)
        return done.returncode, done.stdout + done.stderr

    rekeyed = Rekeyed(bed)
    last = rekeyed.again()
    code, said = ctl(DEFAULT, "--key", last)
    assert code == 0 and said.splitlines() == [
        f"{bearer:#010x} (drb {drb}) had already the keys with number {last}"
        for bearer, drb in ((SECURED, 3), (OTHER, 4), (REFLECTIVE, 5), (SECURED_UM, 6))
    ]
    for words, text in (
        ((DEFAULT, "--key", 63), "drb 3: "),
        ((DEFAULT, "--key", 1), "not above the bearer's present key"),
        ((SECURED, "--key", 62), "no session with several bearers"),
    ):
        code, said = ctl(*words)
        assert code != 0 and text in said and said.count("\n") == 1, said
