"""`splitplane explain`: its words against what the packets are, its octets against an independent decoder, its
refusals, and what docs/guide/explain.md shows against what it prints."""

from __future__ import annotations

import json
import os
import re
import shlex
import struct
import subprocess
import uuid
from pathlib import Path

import air_views
import frames
import gtpu
import pcap
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "config" / "demo.yaml"


def run(splitplane: Path, *words: object, code: int = 0, config: Path = DEMO) -> str:
    command = [str(splitplane), "explain", *map(str, words), "--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == code, done.stderr
    if code:
        assert done.stdout == "" and done.stderr.count("\n") == 1, done
        return done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def stories(splitplane: Path, folder: Path, packets: list[bytes], *words: object, config: Path = DEMO) -> list[dict]:
    file = folder / "in.pcap"
    pcap.write(file, packets)
    return [json.loads(line) for line in run(splitplane, file, "--json", *words, config=config).splitlines()]


def says(story: dict, stage: str) -> str:
    return " | ".join(next(row["says"] for row in story["stages"] if row["stage"] == stage))


def test_a_downlink_packet_goes_to_the_air_with_numbers_that_count_up(splitplane, tmp_path):
    for number, story in enumerate(stories(splitplane, tmp_path, [frames.n3(frames.FIRST)] * 3)):
        assert story["verdict"] == "sent to the air" and story["bearer"]["id"] == frames.FIRST
        stages = [row["stage"] for row in story["stages"]]
        assert stages == ["card", "dl_parse", "dl_bearer", "dl_headers", "dl_clone", "dl_tx"]
        assert "its entry is to_host: to VF 0, of worker w0" in says(story, "card")
        assert f"TEID {frames.FIRST:#010x}" in says(story, "dl_parse") and "QFI 9" in says(story, "dl_parse")
        headers = says(story, "dl_headers")
        assert (
            f"RLC 3 B: SN {number}" in headers and f"PDCP 3 B: SN {number}" in headers and "SDAP 1 B: QFI 9" in headers
        )
        (out,) = story["out"]
        air = air_views.parse(pcap.Frame(0, bytes.fromhex(out["hex"]), len(out["hex"]) // 2))
        assert (air.bearer, air.rlc_sn(), air.pdcp_sn(), air.inner()) == (frames.FIRST, number, number, frames.INNER)


def test_every_configured_bearer_is_found_under_the_identity_that_run_gives_it(splitplane, tmp_path):
    """Eight bearers, one a shard from 0 on; the last one's UPF is reached over IPv6."""
    ids = [1 << 26 | shard << 18 for shard in range(8)]
    found = stories(splitplane, tmp_path, [*map(frames.n3, ids[:7]), frames.n3_v6(ids[7])])
    assert [story["bearer"]["id"] for story in found] == ids
    assert [story["bearer"]["rlc"] for story in found] == ["am18"] * 3 + ["am12"] * 2 + ["um12"] * 2 + ["am18"]


def test_the_story_says_where_the_bearer_is_placed_and_what_keeps_it_there(splitplane, tmp_path):
    host, card, um = stories(splitplane, tmp_path, [*map(frames.n3, (frames.FIRST, frames.ON_CARD, frames.UM12))])
    assert "placed on the host: card card0 may serve it; mode static" in says(host, "dl_bearer")
    assert "placed on card card0: card card0 may serve it; mode static" in says(card, "card")
    assert "placed on the host: no card may serve it: its RLC is not AM" in says(um, "dl_bearer")


def test_an_uplink_packet_goes_to_the_upf(splitplane, tmp_path):
    (story,) = stories(splitplane, tmp_path, [frames.am18_up(5, 6, qfi=3)], "--port", "air")
    assert story["verdict"] == "sent to N3"
    read = says(story, "ul_parse")
    assert "RLC 3 B: SN 5" in read and "PDCP 3 B: SN 6" in read and "SDAP 1 B: QFI 3" in read
    assert "GTP-U to 10.100.0.2: TEID 0x00001001, UL PDU Session Container with QFI 3" in says(story, "ul_encap")
    frame = bytes.fromhex(story["out"][0]["hex"])
    message = gtpu.parse(frame[42:])
    assert (message["teid"], message["psc"], message["payload"]) == (0x1001, bytes([0x10, 3]), frames.INNER)


@pytest.mark.parametrize(
    ("packet", "port", "reason"),
    [
        (frames.n3(0x04FFFFFF), "n3", "teid_unknown"),
        (frames.n3(frames.FIRST, to="10.100.0.9"), "n3", "not_for_us"),
        (frames.n3(frames.FIRST, b""), "n3", "gtpu_no_payload"),
        (frames.n3(frames.FIRST)[:60], "n3", "ip_length"),
        (frames.air(0x04999999, b"\x80\0\0\x80\0\0\x89abc", frames.AM18_UP), "air", "bearer_unknown"),
        (frames.air(frames.FIRST, b"\x80\0\0\x80\0\0\x89abc", 0), "air", "airhdr_modes_wrong"),
        (frames.air(frames.FIRST, b"\x90\0\0\x80\0\0\x89abc", frames.AM18_UP), "air", "rlc_segment"),
        (frames.n3(frames.FIRST), "air", "not_air_frame"),
    ],
)
def test_a_drop_is_told_with_its_counter_and_its_text(splitplane, tmp_path, packet, port, reason):
    (story,) = stories(splitplane, tmp_path, [packet], "--port", port)
    if reason == "ip_length":
        assert story["dropped"] is not None and story["dropped"].startswith("ip")
    else:
        assert story["dropped"] == reason
    text = story["verdict"].split(": ", 2)[2]
    assert text and story["stages"][-1]["says"][-1] == f"dropped: {text}" and story["out"] == []


def test_what_is_for_the_gnb_itself_is_punted_and_answered(splitplane, tmp_path):
    arp, echo = stories(splitplane, tmp_path, [frames.arp_request(), frames.path_message(1)])
    assert arp["punted"] and "ARP" in says(arp, "dl_parse")
    assert "learns that 10.100.0.2 is at 02:00:00:00:00:02" in says(arp, "dl_parse")
    assert "which answers with 42 octets to N3" in says(arp, "dl_parse")
    assert echo["punted"] and "which answers with an Echo Response of 56 octets" in says(echo, "dl_parse")


def test_an_unknown_teid_is_told_to_the_sender(splitplane, tmp_path):
    (story,) = stories(splitplane, tmp_path, [frames.n3(0x04FFFFFF)])
    assert story["dropped"] == "teid_unknown" and story["punted"]
    assert "which answers with an Error Indication of" in says(story, "dl_bearer")


def test_rlc_control_goes_to_the_consumer_of_copies(splitplane, tmp_path):
    status = frames.air(frames.FIRST, b"\x00\x00\x08", frames.AM18_UP)
    (story,) = stories(splitplane, tmp_path, [status], "--port", "air")
    assert story["rlc_control"] and story["verdict"] == "RLC control: to the consumer of copies"


def test_only_prints_one_packet_but_counts_those_before_it(splitplane, tmp_path):
    found = stories(splitplane, tmp_path, [frames.n3(frames.FIRST)] * 4, "--only", 3)
    assert [story["packet"] for story in found] == [3] and "RLC 3 B: SN 2" in says(found[0], "dl_headers")


def test_what_a_capture_cut_off_is_zeros(splitplane, tmp_path):
    whole = frames.n3(frames.FIRST)
    (story,) = stories(splitplane, tmp_path, [pcap.Frame(0, whole[:80], len(whole))])
    assert story["verdict"] == "sent to the air"
    assert story["out"][0]["hex"].endswith(whole[58:80].hex() + "00" * (len(whole) - 80))
    assert "91 octets (80 captured, zeros for the rest)" in run(splitplane, tmp_path / "in.pcap")


def test_a_dispatching_worker_hands_to_the_owner_of_the_shard(splitplane, tmp_path):
    config = ROOT / "config" / "two-workers-dispatch.yaml"
    teid = 1 << 26 | 128 << 18
    first, second = stories(splitplane, tmp_path, [frames.n3(1 << 26), frames.n3(teid)], config=config)
    assert says(first, "dispatch") == "worker dispatch hands it to w0" and first["verdict"] == "sent to the air"
    assert says(second, "dispatch") == "worker dispatch hands it to w1" and second["worker"] == "w1"


def changed(folder: Path, config: Path, old: str, new: str) -> Path:
    text = config.read_text()
    assert old in text
    path = folder / config.name
    path.write_text(text.replace(old, new))
    return path


def test_the_ports_mtu_decides_what_is_too_long(splitplane, tmp_path):
    """As in `run`: the demo's MTU of 1600 has room for an inner packet of 1500 octets, not of 1590."""
    long, longer = stories(
        splitplane, tmp_path, [frames.n3(frames.FIRST, frames.INNER.ljust(n, b"x")) for n in (1500, 1590)]
    )
    assert (long["verdict"], longer["dropped"]) == ("sent to the air", "above_mtu")
    (up,) = stories(
        splitplane, tmp_path, [frames.am18_up(0, 0, payload=frames.INNER.ljust(1500, b"x"))], "--port", "air"
    )
    assert up["verdict"] == "sent to N3"


def test_messages_that_run_ignores_are_said_to_be_ignored(splitplane, tmp_path):
    indication = frames.path_message(26)
    unknown = indication[:42] + bytes.fromhex("341a0008000000000000" + "00c6" + "01000000")
    nobody, unread, refused = stories(splitplane, tmp_path, [frames.n3(0), indication, fix_lengths(unknown)])
    assert says(nobody, "dl_bearer").split(" | ")[1] == "which ignores it: TEID 0 is nobody's"
    assert "which ignores it: its content cannot be read" in says(unread, "dl_parse")
    assert refused["dropped"] == "gtpu_extension_unknown_required"
    assert "which ignores it" in says(refused, "dl_parse") and "answers" not in says(refused, "dl_parse")


def fix_lengths(frame: bytes) -> bytes:
    """IPv4 and UDP lengths of a frame whose end was replaced."""
    made = bytearray(frame)
    made[16:18] = (len(made) - 14).to_bytes(2)
    made[38:40] = (len(made) - 34).to_bytes(2)
    return bytes(made)


def numbered(sn: int) -> bytes:
    frame = bytearray(frames.n3(frames.FIRST))
    frame[42] |= 0x02
    frame[50:52] = sn.to_bytes(2)
    return bytes(frame)


def test_a_packet_that_pushes_the_window_is_not_told_as_those_that_leave(splitplane, tmp_path):
    first = "{count: 1, upf: 10.100.0.2, ul_teid: 0x1001,"
    config = changed(tmp_path, DEMO, first, first + " n3_reorder: {window: 4, timer_ms: 1000},")
    first, second, third, pushing, missing = stories(
        splitplane, tmp_path, [numbered(sn) for sn in (10, 12, 13, 15, 14)], config=config
    )
    assert first["verdict"] == "sent to the air"
    for held in (second, third, pushing):
        assert held["verdict"] == "held: waits for the packets before it"
        assert [row["stage"] for row in held["stages"]] == ["card", "dl_parse", "dl_bearer"]
    assert "2 packets that had waited for it: to the air" in says(pushing, "dl_bearer") and len(pushing["out"]) == 2
    assert missing["verdict"] == "sent to the air" and "RLC 3 B: SN 3" in says(missing, "dl_headers")
    assert "and 1 packet that waited for it" in says(missing, "dl_tx") and len(missing["out"]) == 2


def test_a_dispatching_worker_looks_at_the_checksums_as_well(splitplane, tmp_path):
    config = ROOT / "config" / "two-workers-dispatch.yaml"
    n3 = '  n3: {device: "net_af_packet0,iface=gnb-n3,qpairs=2,framecnt=8192,framesz=2048,blocksz=65536", '
    wrong = bytearray(frames.n3(1 << 26))
    wrong[22] ^= 1
    verifying = changed(tmp_path, config, n3, n3 + "checksum: software, ")
    (story,) = stories(splitplane, tmp_path, [bytes(wrong)], config=verifying)
    assert story["dropped"] == "ipv4_bad_checksum"


def test_a_bearer_on_a_card_is_served_there_and_what_the_card_cannot_read_comes_back_to_it(splitplane, tmp_path):
    plain, options = frames.n3(frames.ON_CARD), frames.with_ip_options(frames.n3(frames.ON_CARD))
    served, returned, again = stories(splitplane, tmp_path, [plain, options, plain])
    assert served["verdict"] == again["verdict"] == "sent to the air by card card0"
    assert [row["stage"] for row in served["stages"]] == ["card"] and served["worker"] == ""
    assert "its entry is serve" in says(served, "card") and "RLC 3 B: SN 0" in says(served, "card")
    assert "passes it up by VF 0 as it came: ip_options: IPv4 options" in says(returned, "card")
    assert returned["verdict"] == "returned to card card0, which numbers it and sends it to the air"
    assert "goes back to the card as a returned frame of 57 octets" in says(returned, "dl_bearer")
    for number, story in enumerate((served, returned, again)):
        out = bytes.fromhex(next(frame["hex"] for frame in story["out"] if frame["to"] == "air"))
        air = air_views.parse(pcap.Frame(0, out, len(out)))
        assert (air.bearer, air.rlc_sn(), air.pdcp_sn()) == (frames.ON_CARD, number, number)
        assert air.inner() == frames.INNER


def test_what_a_card_cannot_read_is_handed_to_the_worker_that_owns_the_bearer(splitplane, tmp_path):
    tree = yaml.safe_load(DEMO.read_text())
    for port in ("n3", "air"):
        tree["ports"][port] |= {"device": tree["ports"][port]["device"] + ",queues=2", "rx_queues": 2, "tx_queues": 2}
    w0 = tree["workers"].pop("w0") | {"shards": "0-0"}
    tree["workers"] |= {"w0": w0, "w1": w0 | {"queue": 1, "shards": "1-255"}}
    config = tmp_path / "two.yaml"
    config.write_text(json.dumps(tree))
    options = frames.with_ip_options(frames.n3(frames.ON_CARD))
    plain, returned, host = stories(
        splitplane, tmp_path, [frames.n3(frames.UM12), options, frames.with_ip_options(frames.n3(frames.UM12))],
        config=config,
    )  # fmt: skip
    assert plain["worker"] == "w1" and "dispatch" not in [row["stage"] for row in plain["stages"]]
    assert "passes it up by VF 0 as it came: ip_options" in says(returned, "card")
    for story in (returned, host):
        assert says(story, "dispatch") == "worker w0 hands it to w1" and story["worker"] == "w1"
    assert returned["verdict"] == "returned to card card0, which numbers it and sends it to the air"
    assert host["verdict"] == "sent to the air" and host["bearer"]["id"] == frames.UM12


def test_hexadecimal_input_may_have_blanks_and_prefixes(splitplane):
    plain = frames.n3(frames.FIRST).hex()
    spaced = " ".join("0x" + plain[at : at + 2] for at in range(0, len(plain), 2))
    assert run(splitplane, plain) == run(splitplane, spaced) == run(splitplane, "0x" + plain)


def test_every_line_fits_80_columns(splitplane, tmp_path):
    file = tmp_path / "in.pcap"
    v6 = 1 << 26 | 7 << 18
    pcap.write(file, [frames.n3(frames.FIRST), frames.n3(frames.UM12), frames.n3(v6), frames.arp_request(), b"\0" * 60])
    assert max(map(len, run(splitplane, file, "--hex").splitlines())) < 80


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["zz"], "'zz' is neither a file nor whole octets in hexadecimal digits"),
        (["123"], "'123' is neither a file nor whole octets"),
        ([""], "'' is neither a file nor whole octets"),
        ([str(DEMO)], "allowed: a pcap or pcapng file"),
        (["00", "--only", "2"], "there are 1 packets"),
        (["00", "--only", "0"], "--only"),
        (["00", "--port", "n4"], "--port"),
    ],
)
def test_bad_input_is_refused_in_one_line_with_exit_code_2(splitplane, words, text):
    assert text in run(splitplane, *words, code=2)


def test_a_file_of_another_link_type_or_cut_in_a_header_is_refused(splitplane, tmp_path):
    other = tmp_path / "other.pcap"
    other.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    assert "link type RAW; allowed: Ethernet" in run(splitplane, other, code=2)
    cut = tmp_path / "cut.pcap"
    pcap.write(cut, [frames.n3(frames.FIRST)] * 2)
    cut.write_bytes(cut.read_bytes()[:-5])
    assert "after packet 1: truncated" in run(splitplane, cut, code=2)
    assert "demo.yaml" not in run(splitplane, "00", code=2, config=tmp_path / "none.yaml")


def test_any_octets_are_explained_without_a_crash(splitplane, tmp_path):
    import random

    chance = random.Random(7)
    packets = []
    for _ in range(400):
        octets = bytearray(chance.choice([frames.n3(frames.FIRST), frames.am18_up(1, 1), frames.arp_request()]))
        for _ in range(chance.randrange(1, 6)):
            octets[chance.randrange(len(octets))] = chance.randrange(256)
        packets.append(bytes(octets[: chance.randrange(1, len(octets) + 1)]))
    for port in ("n3", "air"):
        found = stories(splitplane, tmp_path, packets, "--port", port)
        assert len(found) == 400 and all(story["verdict"] for story in found)


def test_no_privilege_is_needed(splitplane, tmp_path):
    """As nobody, in a place where nothing can be written."""
    if os.geteuid() != 0:
        assert run(splitplane, frames.n3(frames.FIRST).hex())
        return
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--no-new-privs",
         splitplane, "explain", frames.n3(frames.FIRST).hex(), "--config", DEMO],
        capture_output=True, text=True, timeout=90, check=False, cwd="/proc", env={"PATH": "/usr/bin"},
    )  # fmt: skip
    if "Permission denied" in done.stderr and "explain" not in done.stderr:
        pytest.skip(f"SKIPPED: nobody cannot reach the program here: {done.stderr.strip()}")
    assert done.returncode == 0 and "=> sent to the air" in done.stdout, done.stderr


def test_a_reader_that_has_seen_enough_leaves_no_files_of_dpdk(splitplane, tmp_path):
    """`explain ... | head -1`: it ends at once, says nothing, and removes what DPDK made."""
    file = tmp_path / "many.pcap"
    pcap.write(file, [frames.n3(frames.FIRST)] * 2000)
    explain = subprocess.Popen(
        [splitplane, "explain", file, "--config", DEMO], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert explain.stdout.readline().startswith("#1 from N3")
    explain.stdout.close()
    assert explain.stderr.read() == ""
    assert explain.wait(30) == 1
    assert not Path(f"/var/run/dpdk/splitplane-explain-{explain.pid}").exists()


def blocks() -> list[tuple[str, str]]:
    """Command and output of each `$ ` block of docs/guide/explain.md."""
    text = (ROOT / "docs" / "guide" / "explain.md").read_text()
    found = re.findall(r"^```\n\$ ((?:.*\\\n)*.*)\n((?:(?!```).*\n)*)```$", text, re.MULTILINE)
    return [(command.replace("\\\n", ""), output) for command, output in found]


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_document_shows_what_it_prints(splitplane, number):
    command, shown = blocks()[number]
    words = shlex.split(command)
    assert words[:2] == ["splitplane", "explain"]
    done = subprocess.run([splitplane, *words[1:]], capture_output=True, text=True, timeout=90, cwd=ROOT, check=False)
    assert done.stdout + done.stderr == shown


def test_there_are_examples_in_the_document():
    assert len(blocks()) >= 3


@pytest.mark.parametrize("size", [(80, 24), (140, 50)])
def test_in_a_real_terminal_no_line_wraps(splitplane, tmp_path, size):
    """tmux is the terminal; what it shows is what was printed, line for line."""
    columns, rows = size
    socket, program = f"splitplane-{uuid.uuid4().hex[:8]}", f"{shlex.quote(str(splitplane))} explain"
    command = f"{program} {frames.n3(frames.FIRST).hex()} --config {shlex.quote(str(DEMO))}; sleep 30"
    tmux = ["tmux", "-L", socket, "-f", "/dev/null"]
    try:
        subprocess.run(
            [*tmux, "new-session", "-d", "-x", str(columns), "-y", str(rows), command], check=True, timeout=90
        )
        for _ in range(100):
            shown = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
            if "=>" in shown:
                break
            subprocess.run(["sleep", "0.1"], check=True)
        assert shown.rstrip("\n") + "\n" == run(splitplane, frames.n3(frames.FIRST).hex())
    except FileNotFoundError:
        pytest.skip("SKIPPED: tmux is not installed (make setup)")
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True, check=False)
