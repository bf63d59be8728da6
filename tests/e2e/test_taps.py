"""Taps of a running gNB: switched by `splitplane ctl tap` while packets flow, judged by tshark and capinfos against
what the UPF and the UE say; a full disk ends the tap and not the traffic."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from pathlib import Path

import configs
import pytest
from judge import CHECKSUMS, N3_FIELDS, PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, gaps, judge, number, way
from namespaces import N3Link
from paths import own, splitplane
from processes import PATIENCE, Failure, run, wait_until
from test_two_workers import by_dispatcher
from testbed import Testbed
from upf import SERVER_IPV4

LINK = N3Link()
BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, qfi=9),
    configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="um12", pdcp_sn=12, qfi=5),
]
PINGS = 50
SMALL_DISK = 1 << 20


@pytest.fixture(scope="module")
def small_disk():
    place = own("e2e") / "taps" / "small"
    place.mkdir(parents=True, exist_ok=True)
    mounted = run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", place], check=False)
    yield place if mounted.returncode == 0 else None
    if mounted.returncode == 0:
        run(["umount", "-l", place])


@pytest.fixture(scope="module")
def freezing_disk():
    image, place = own("e2e") / "taps" / "disk.img", own("e2e") / "taps" / "disk"
    place.mkdir(parents=True, exist_ok=True)
    image.write_bytes(bytes(16 << 20))
    made = run(["mkfs.ext4", "-q", "-F", image], check=False).returncode == 0
    mounted = made and run(["mount", "-o", "loop", image, place], check=False).returncode == 0
    yield place if mounted else None
    if mounted:
        run(["umount", "-l", place])


@pytest.fixture(scope="module")
def bed(small_disk, freezing_disk):  # mounted before the gNB has its namespaces
    with Testbed(own("e2e") / "taps", "tap", configs.one_worker("tap", BEARERS)) as made:
        yield made


def ctl(bed: Testbed, *words: object, code: int = 0) -> dict:
    done = run([splitplane(), "ctl", "--config", bed.gnb.config, "--json", "tap", *words], check=False)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else {"error": done.stderr.strip()}


def capinfos(path: Path, letter: str) -> str:
    done = run(["capinfos", "-TrmQ", f"-{letter}", path])
    return done.stdout.strip().split(",")[-1].strip('"')


def addresses(bed: Testbed) -> list[str]:
    return [bearer["ue_ipv4"] for bearer in bed.bearers()]


def test_the_three_views_hold_every_packet_that_passed(bed, folder):
    taps = {"n3": ["n3"], "air-rlc-nr": ["air", "--view", "rlc-nr"], "air-pdcp-nr": ["air", "--view", "pdcp-nr"]}
    for name, words in taps.items():
        made = ctl(bed, "on", *words, "--file", folder / f"{name}.pcapng")
        assert (made["name"], made["state"]) == (name, "on")
        assert ctl(bed, "on", *words, "--file", folder / f"{name}.pcapng")["name"] == name  # twice is no error
    before = {bearer["id"]: bearer for bearer in bed.bearers()}
    for ue in addresses(bed):
        assert bed.ping(ue, PINGS) == PINGS
    after = {bearer["id"]: bearer for bearer in bed.bearers()}
    last = {name: ctl(bed, "off", name)["tap"] for name in taps}
    assert all(not tap["dropped"] and tap["state"] == "off" for tap in last.values()), last
    assert ctl(bed, "list")["taps"] == [] and ctl(bed, "off", "n3")["existed"] is False

    def passed(bearer: int, direction: str) -> int:
        return after[bearer][direction]["transmitted"] - before[bearer][direction]["transmitted"]

    n3 = judge(folder / "n3.pcapng", (*N3_FIELDS, "frame.packet_flags_direction", "frame.interface_name"), CHECKSUMS)
    assert not n3.complaints and len(n3.rows) == last["n3"]["packets"]
    assert {row["frame.interface_name"] for row in n3.rows} == {"n3"}
    data = [row for row in n3.rows if row["gtp.message"] == "0xff"]
    for bearer, config in after.items():
        for direction, teid, pdu, flag in (("downlink", bearer, "0", "1"), ("uplink", config["ul_teid"], "1", "2")):
            mine = [row for row in data if number(row["gtp.teid"]) == teid]
            assert len(mine) == passed(bearer, direction) >= PINGS, (hex(bearer), direction)
            assert {row["gtp.ext_hdr.pdu_ses_con.pdu_type"] for row in mine} == {pdu}
            assert {int(row["gtp.ext_hdr.pdu_ses_con.qos_flow_id"], 0) for row in mine} == {config["qfi"]}
            assert {int(row["frame.packet_flags_direction"], 0) for row in mine} == {int(flag)}
            ends = {tuple(row["ip.src"].split(";"))[1] for row in mine}
            assert ends == {SERVER_IPV4 if direction == "downlink" else config["ue_ipv4"]}

    total = {"down": "downlink", "up": "uplink"}
    for name, fields, options in (("air-rlc-nr", RLC_FIELDS, RLC), ("air-pdcp-nr", PDCP_FIELDS, PDCP)):
        seen = judge(folder / f"{name}.pcapng", (*fields, "eth.addr"), options)
        assert not seen.complaints and len(seen.rows) == last[name]["packets"]
        counts = Counter((row[fields[0]], way(row)) for row in seen.rows)
        assert {direction for _, direction in counts} == set(total) and len(counts) == 4
        macs = {f"02:00:{bearer.to_bytes(4).hex(':')}" for bearer in after}
        assert all(any(mac in row["eth.addr"] for mac in macs) for row in seen.rows), "of one of the bearers each"
        for bearer in after:
            mac = f"02:00:{bearer.to_bytes(4).hex(':')}"
            mine = [row for row in seen.rows if mac in row["eth.addr"]]
            for direction, key in total.items():
                rows = [row for row in mine if way(row) == direction and row.get("rlc-nr.am.dc") != "0"]
                assert len(rows) == passed(bearer, key)
                key, bits = (
                    ("pdcp-nr.seq-num", after[bearer]["pdcp_sn"]) if name == "air-pdcp-nr" else ("rlc-nr.am.sn", 18)
                )
                assert gaps([number(row[key]) for row in rows if row[key]], 1 << bits) == 0
    pdcp = judge(folder / "air-pdcp-nr.pcapng", PDCP_FIELDS, PDCP)
    assert {int(row["sdap.qfi"], 0) for row in pdcp.rows} == {9, 5}
    inner = {address for row in pdcp.rows for address in row["ip.src"].split(";")[1:]}
    assert inner == {SERVER_IPV4, *addresses(bed)}


def test_a_full_disk_stops_the_tap_and_not_the_traffic(bed, small_disk):
    if small_disk is None:
        pytest.skip("cannot mount a tmpfs here")
    file = bed.web.make("taps.bin", 4 << 20)
    ctl(bed, "on", "n3", "--file", small_disk / "n3.pcapng")
    ue = addresses(bed)[0]
    assert bed.web.download(ue, file).equal
    wait_until("the tap to stop", lambda: ctl(bed, "list")["taps"][0]["state"] == "stopped")
    stopped = ctl(bed, "list")["taps"][0]
    assert "No space left on device" in stopped["reason"] and stopped["packets"] > 500
    wait_until("the log", lambda: "tap n3 has stopped" in bed.gnb.process.log.read_text())
    log = bed.gnb.process.log.read_text()
    assert log.count("tap n3 has stopped") == 1 and "traffic goes on" in log
    assert bed.ping(ue, PINGS) == PINGS
    assert bed.web.upload(ue, file).equal
    bed.assert_accounted()
    # What is there ends with a whole packet: no reader complains.
    done = subprocess.run(
        ["tshark", "-n", "-r", small_disk / "n3.pcapng"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0 and "cut short" not in done.stderr, done.stderr
    assert len(done.stdout.splitlines()) > 500
    assert ctl(bed, "off", "n3")["tap"]["state"] == "stopped"


def test_a_disk_that_hangs_keeps_nobody_waiting_but_its_tap(bed, freezing_disk):
    if freezing_disk is None:
        pytest.skip("cannot mount a disk image here")
    ue = addresses(bed)[0]
    ctl(bed, "on", "n3", "--file", freezing_disk / "n3.pcapng")
    run(["fsfreeze", "-f", freezing_disk])
    try:
        assert bed.ping(ue, PINGS) == PINGS
        assert ctl(bed, "off", "n3")["tap"]["state"] == "ending"
        assert ctl(bed, "on", "air", "--file", freezing_disk / "air.pcapng")["state"] == "opening"
        begin = time.monotonic()
        assert {tap["name"]: tap["state"] for tap in ctl(bed, "list")["taps"]} == {"air": "opening", "n3": "ending"}
        bed.gnb.control.call("peer.list")
        assert time.monotonic() - begin < 20, "the disk hangs until the end of this test"
        assert bed.ping(ue, PINGS) == PINGS
    finally:
        run(["fsfreeze", "-u", freezing_disk])
    wait_until("the tap to end", lambda: [t["name"] for t in ctl(bed, "list")["taps"]] == ["air"])
    wait_until("the tap to be on", lambda: ctl(bed, "list")["taps"][0]["state"] == "on")
    assert int(capinfos(freezing_disk / "n3.pcapng", "c")) >= 2 * PINGS
    assert ctl(bed, "off", "air")["tap"]["packets"] >= 2 * PINGS


def test_a_tap_that_stopped_begins_anew(bed, small_disk, folder):
    if small_disk is None:
        pytest.skip("cannot mount a tmpfs here")
    ctl(bed, "on", "n3", "--file", folder / "one.pcapng", "--max-mb", 1)
    file = bed.web.make("taps.bin", 2 << 20)
    assert bed.web.download(addresses(bed)[0], file).equal
    wait_until("the tap to stop", lambda: ctl(bed, "list")["taps"][0]["state"] == "stopped")
    assert "has reached its limit" in ctl(bed, "list")["taps"][0]["reason"]
    assert ctl(bed, "on", "n3", "--file", folder / "two.pcapng")["state"] == "on"
    assert ctl(bed, "off", "n3")["existed"]


def test_taps_give_their_memory_back(bed, folder):
    """Each takes 20 MB of the instance's 160: without giving it back the eighth would fail."""
    ue = addresses(bed)[1]
    for turn in range(20):
        ctl(bed, "on", "air", "--file", folder / "air.pcapng", "--name", f"t{turn}")
        if turn % 5 == 0:
            assert bed.ping(ue, 5) == 5
        assert ctl(bed, "off", f"t{turn}")["existed"]
    bed.assert_accounted()


def test_a_tap_that_does_not_fit_is_refused_in_one_line(bed, folder):
    for words, text in {
        ("n4",): "port: there is no port 'n4'; allowed: n3, air",
        ("n3", "--view", "rlc-nr"): "view: rlc-nr shows the air, and n3 is no port of the section air",
        ("n3", "--worker", "w9"): "worker: 'w9' is no worker that uses port n3; allowed: w0",
        ("n3", "--files", 3): "files: is 3, but a file has no limit; allowed: together with max_mb",
        ("n3", "--bearer", 1): "bearer: n3 is no port of the section air",
        ("n3", "--file", "/nowhere/x.pcapng"): "/nowhere/x.pcapng: No such file or directory",
        ("n3", "--buffers", 1 << 20): "the buffers of all taps take",
    }.items():
        more = () if "--file" in words else ("--file", folder / "x.pcapng")
        error = ctl(bed, "on", *words, *more, code=2)["error"]
        assert text in error and "\n" not in error, error
    assert ctl(bed, "list")["taps"] == []


def test_tap_on_takes_what_the_file_takes(bed, folder):
    """One rule for names, paths and the number of taps, whoever asks for them."""
    good = {"port": "n3", "file": str(folder / "rule.pcapng")}
    for wrong, key in [
        ({"name": "x" * 60_000}, "name"),
        ({"name": "\x1b[2Jn3"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"file": "folder/a\nb"}, "file"),
        ({"file": ""}, "file"),
    ]:
        with pytest.raises(Failure, match=f"tap.on: {key}: ") as refused:
            bed.gnb.control.call("tap.on", **(good | wrong))
        assert len(str(refused.value)) < 500 and str(refused.value).isprintable()
    there = len(bed.gnb.control.call("tap.list")["taps"])
    made = []
    try:
        with pytest.raises(Failure, match="taps already; allowed: at most 16"):
            for number in range(17 - there):
                file = str(folder / f"{number}.pcapng")
                bed.gnb.control.call("tap.on", port="n3", file=file, name=f"rule{number}", buffers=127)
                made.append(f"rule{number}")
        assert len(made) == 16 - there
    finally:
        for name in made:
            bed.gnb.control.call("tap.off", name=name)


def test_behind_a_dispatching_worker_each_worker_is_an_interface(folder):
    """What comes in passes the dispatcher's end of the port, what goes out that of the worker that made it."""
    with Testbed(folder, "2t", by_dispatcher("2t")) as bed:
        ctl(bed, "on", "n3", "--file", folder / "n3.pcapng")
        for ue in addresses(bed):
            assert bed.ping(ue, PINGS) == PINGS
        last = ctl(bed, "off", "n3")["tap"]
        bed.finish()
    seen = judge(folder / "n3.pcapng", (*N3_FIELDS, "frame.interface_name"), CHECKSUMS)
    assert not seen.complaints and len(seen.rows) == last["packets"] and not last["dropped"]
    counts = Counter((row["frame.interface_name"], way(row)) for row in seen.rows if way(row))
    assert set(counts) == {("n3@d", "down"), ("n3@w0", "up"), ("n3@w1", "up")}, counts
    assert counts["n3@d", "down"] == counts["n3@w0", "up"] + counts["n3@w1", "up"] == 2 * PINGS
