"""Sessions with several bearers: each QoS flow of one TEID takes its bearer, with that bearer's own numbers, also after
a restart. tshark reads the numbers; of our formats the test reads the airhdr alone."""

from __future__ import annotations

import contextlib
import json
import re
import signal
from collections import defaultdict

import air_views
import configs
import gtpu
import pcap
import pytest
from instance import Instance
from judge import PDCP, PDCP_FIELDS, judge
from namespaces import AirLink, N3Link, Network
from paths import own, splitplane
from processes import Failure, Processes, run
from wire import Wire

LINK, AIR = N3Link(), AirLink()
UL_TEID = 0x3001
FIRST, SECOND = configs.identity(5), configs.identity(5, 1)
SESSION = {
    "upf": LINK.upf_ipv4,
    "ul_teid": UL_TEID,
    "shard": 5,
    "default_drb": 1,
    "ue_ipv4": "10.45.0.2",
    "bearers": [{"drb": 1}, {"drb": 2, "flows": [5, 6], "rlc": "um12", "pdcp_sn": 12}],
}
# As a UPF sends: QFI of each G-PDU, in order, and the bearer that must take it.
FLOWS = {9: FIRST, 5: SECOND, 0: FIRST, 6: SECOND}


class Bed:
    """A gNB between two wires. `sessions`: those of its file."""

    def __init__(self, name: str, sessions: list[dict]):
        self.folder = own("e2e") / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes, self.network = Processes(self.folder), Network(name)
        self.tree = configs.one_worker(name, [], LINK, AIR) | {"sessions": sessions}
        self.tree |= {"journal": str(self.folder / f"{name}.journal")}
        self.tree["n3"][0]["peer_mac"] = "02:00:00:00:00:02"
        self.stack = contextlib.ExitStack()

    def __enter__(self) -> Bed:
        with self.stack:
            self.stack.enter_context(self.network)
            self.stack.callback(self.processes.stop_all)
            self.start(fresh=True)
            self.n3 = Wire(self.network.core, LINK.upf_interface)
            self.stack.callback(self.n3.close)
            self.air = Wire(self.network.ue, AIR.ue_interface)
            self.stack.callback(self.air.close)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start(self, *, fresh: bool = False):
        config = configs.write(self.folder, "gnb", self.tree)
        self.gnb = Instance(self.processes, "gnb", "run", config, self.network.gnb, fresh=fresh)

    def ctl(self, *words: object, code: int = 0) -> dict:
        command = [splitplane(), "ctl", "--config", self.gnb.config, "--json", "session", *words]
        done = run(command, check=False)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else {"error": done.stderr.strip()}

    def send(self, teid: int, qfis: list[int]) -> list[air_views.AirPdu]:
        """Downlink G-PDUs of one tunnel; what comes out on the air."""
        for number, qfi in enumerate(qfis):
            self.n3.send(frame(teid, number, qfi))
        found = self.air.gather("frame on the air", is_air, len(qfis))
        frames = [pcap.Frame(number, octets, len(octets)) for number, octets in enumerate(found) if is_air(octets)]
        return [pdu for pdu in map(air_views.parse, frames) if pdu]


def frame(teid: int, number: int, qfi: int) -> bytes:
    inner = gtpu.packet(bytes([number]) * 20, "10.46.0.1", "10.45.0.2")
    outer = gtpu.packet(
        gtpu.gpdu(teid, inner, qfi), LINK.upf_ipv4, LINK.gnb_ipv4, source_port=2152, destination_port=2152
    )
    return b"\xff" * 6 + b"\x02\0\0\0\0\x02" + b"\x08\x00" + outer


def is_air(octets: bytes) -> bool:
    return octets[12:14] == b"\x88\xb5"


def read_by_tshark(folder, pdus: list[air_views.AirPdu]) -> dict[int, list[tuple[int, int]]]:
    """PDCP SN and QFI of each PDU, by the bearer of its airhdr."""
    _, frames, ues = air_views.views(iter(pdus))
    path = folder / "pdcp.pcap"
    pcap.write(path, frames)
    bearers = {str(ue): bearer for bearer, ue in ues.items()}
    read = defaultdict(list)
    for row in judge(path, PDCP_FIELDS, PDCP).rows:
        read[bearers[row["pdcp-nr.ueid"]]].append((int(row["pdcp-nr.seq-num"], 0), int(row["sdap.qfi"])))
    return dict(read)


def sent_by(bed: Bed, session: int) -> dict[int, int]:
    shown = bed.ctl("show", session)
    return {bearer["id"]: bearer["downlink"]["transmitted"] for bearer in shown["bearers"]}


def test_two_flows_of_one_teid_take_two_bearers_with_their_own_numbers():
    with Bed("sesf", [SESSION]) as bed:
        (listed,) = bed.ctl("list")["sessions"]
        assert listed["id"] == FIRST and [bearer["drb"] for bearer in listed["bearers"]] == [1, 2]
        assert listed["bearers"][1]["id"] == SECOND and listed["bearers"][1]["flows"] == [5, 6]
        pdus = bed.send(FIRST, [*FLOWS, 5, 9])
        # The two bearers differ in RLC mode and SN length, which the airhdr says.
        assert {(pdu.bearer, pdu.rlc_sn_bits, pdu.pdcp_sn_bits) for pdu in pdus} == {(FIRST, 18, 18), (SECOND, 12, 12)}
        assert read_by_tshark(bed.folder, pdus) == {
            FIRST: [(0, 9), (1, 0), (2, 9)],
            SECOND: [(0, 5), (1, 6), (2, 5)],
        }
        assert sent_by(bed, FIRST) == {FIRST: 3, SECOND: 3}
        counted = {flow["qfi"]: (flow["drb"], flow["downlink"]) for flow in bed.ctl("show", FIRST)["flows_counted"]}
        one = len(gtpu.packet(bytes(20), "10.46.0.1", "10.45.0.2"))
        assert counted == {
            qfi: (drb, {"sdus": sdus, "bytes": sdus * one})
            for qfi, drb, sdus in ((0, 1, 1), (5, 2, 2), (6, 2, 1), (9, 1, 2))
        }
        (plain, flow) = (bed.gnb.control.call("bearer.show", id=bearer) for bearer in (FIRST, SECOND))
        assert plain["session"]["default"] and flow["session"]["flows"] == [5, 6]
        for qfi, drb in ((6, 2), (7, 1)):
            done = run([splitplane(), "explain", frame(FIRST, 0, qfi).hex(), "--running", "--config", bed.gnb.config])
            told = " ".join(done.stdout.split())
            assert f"session {FIRST:#010x} of 2 bearers: DRB {drb}" in told and f"QFI {qfi}" in told


@pytest.mark.parametrize("by", ["file", "ctl"])
def test_a_restart_keeps_the_session_and_goes_on_with_its_numbers(by):
    with Bed(f"sesr{by[0]}", [SESSION] if by == "file" else []) as bed:
        if by == "ctl":
            words = ["add", "--upf", LINK.upf_ipv4, "--ul-teid", UL_TEID, "--shard", 5, "--default-drb", 1]
            for bearer in SESSION["bearers"]:
                words += ["--bearer", json.dumps(bearer)]
            assert bed.ctl(*words)["session"]["id"] == FIRST
            assert bed.ctl(*words)["existed"], "the same once more is no second session"
        bed.send(FIRST, [9, 5, 5])
        bed.gnb.finish()
        bed.start()
        read = read_by_tshark(bed.folder, bed.send(FIRST, [9, 5]))
        assert read == {FIRST: [(1, 9)], SECOND: [(2, 5)]}
        assert bed.ctl("release", FIRST)["existed"]
        bed.gnb.finish()
        bed.start()
        assert bed.ctl("list")["sessions"] == [] and bed.gnb.control.bearers() == []


def test_a_killed_gnb_uses_no_number_of_a_session_twice():
    with Bed("sesk", [SESSION]) as bed:
        before = read_by_tshark(bed.folder, bed.send(FIRST, [9, 5, 5]))
        bed.gnb.process.signal(signal.SIGKILL)
        bed.gnb.process.wait(10)
        bed.processes.stop(bed.gnb.process)
        bed.start()
        after = read_by_tshark(bed.folder, bed.send(FIRST, [9, 5]))
        assert sorted(before) == sorted(after) == [FIRST, SECOND]
        assert all(after[bearer][0][0] > before[bearer][-1][0] for bearer in before)


def test_a_bearer_of_a_session_goes_with_the_session_alone():
    with Bed("sesx", [SESSION]) as bed:
        with pytest.raises(Failure, match="is one of 2 of session 0x[0-9a-f]+; allowed: session.release"):
            bed.gnb.control.call("bearer.release", id=SECOND)
        with pytest.raises(Failure, match="allowed: session.release, then session.add"):
            bed.gnb.control.call("bearer.modify", id=SECOND, qfi=4)
        assert read_by_tshark(bed.folder, bed.send(FIRST, [5])) == {SECOND: [(0, 5)]}, "it is as before"
        assert bed.ctl("release", FIRST)["existed"] and not bed.ctl("release", FIRST)["existed"]
        assert bed.gnb.control.bearers() == []


def test_ctl_moves_a_flow_and_the_journal_keeps_the_flows_of_a_session_that_it_added():
    with Bed("sesm", []) as bed:
        words = ["add", "--upf", LINK.upf_ipv4, "--ul-teid", UL_TEID, "--shard", 5, "--default-drb", 1]
        for bearer in SESSION["bearers"]:
            words += ["--bearer", json.dumps(bearer)]
        bed.ctl(*words)
        moved = bed.ctl("flow", hex(FIRST), "--qfi", 5, "--drb", 1)["session"]
        assert [bearer["flows"] for bearer in moved["bearers"]] == [[5], [6]]
        assert read_by_tshark(bed.folder, bed.send(FIRST, [5, 6])) == {FIRST: [(0, 5)], SECOND: [(0, 6)]}
        for wrong, says in (
            ((FIRST, "--qfi", 5, "--drb", 9), "drb: 9 is no bearer of the session"),
            ((SECOND, "--qfi", 5, "--drb", 1), "no session with several bearers has TEID"),
            ((FIRST, "--qfi", 64, "--drb", 1), "--qfi"),
        ):
            assert says in bed.ctl("flow", *wrong, code=2)["error"]
        bed.gnb.finish()
        bed.start()
        assert [bearer["flows"] for bearer in bed.ctl("show", FIRST)["bearers"]] == [[5], [6]]
        assert read_by_tshark(bed.folder, bed.send(FIRST, [5, 6])) == {FIRST: [(1, 5)], SECOND: [(1, 6)]}


BAD = {
    "two rules": ([{"drb": 1, "flows": [5]}, {"drb": 2, "flows": [5]}], "QFI 5 has two rules"),
    "one bearer": ([{"drb": 1}], "the session has one bearer"),
    "a card": ([{"drb": 1}, {"drb": 2, "card": "card0"}], "this host has no card .card0."),
    "no default": ([{"drb": 3}, {"drb": 2}], "default_drb: 1 is no bearer of the session"),
    "a flow above 63": ([{"drb": 1}, {"drb": 2, "flows": [64]}], "allowed are integers from 0 to 63"),
    "a key of the tunnel": ([{"drb": 1, "ul_teid": 1}, {"drb": 2}], "ul_teid: unknown"),
}


def test_bad_input_changes_nothing_and_is_named():
    with Bed("sesb", [SESSION]) as bed:
        for bearers, says in BAD.values():
            words = ["add", "--upf", LINK.upf_ipv4, "--ul-teid", 9, "--default-drb", 1]
            for bearer in bearers:
                words += ["--bearer", json.dumps(bearer)]
            assert re.search(says, bed.ctl(*words, code=2)["error"])
            with pytest.raises(Failure, match=says):
                bed.gnb.control.call("session.add", upf=LINK.upf_ipv4, ul_teid=9, default_drb=1, bearers=bearers)
        words = ["add", "--upf", LINK.upf_ipv4, "--ul-teid", 9, "--default-drb", 1, "--bearer", "drb=1"]
        assert "is no JSON object" in bed.ctl(*words, code=2)["error"]
        with pytest.raises(Failure, match="is in use by bearer"):
            bearers = [{"drb": 1}, {"drb": 7}]
            bed.gnb.control.call("session.add", upf=LINK.upf_ipv4, ul_teid=UL_TEID, default_drb=1, bearers=bearers)
        assert len(bed.gnb.control.bearers()) == 2
