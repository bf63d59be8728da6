"""Bearers on a card and on the host behind it: real TCP at every share, what the card cannot read, and a card that is
killed and comes back under traffic."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import configs
import pytest
from capture import Capture
from card import with_share
from card_bed import CardBed, numbers_on_air
from namespaces import AirLink, N3Link
from paths import own, splitplane
from processes import Process, run, wait_until
from ue import has_addresses, tun_name
from upf import SERVER_IPV4
from wire import Wire

LINK = N3Link()
SECOND = N3Link("upf-n3b", "gnb-n3b", "10.101.0.2", "fd00:101::2", "10.101.0.1", "fd00:101::1")
FILE_BYTES = 1_000_000
COPIES_PORT = 4  # of the card: N3, air, then its VFs
SETTLE_S = 1.0  # until the stamp of an answer that was on its way


def group(first: int, count: int, **more) -> dict:
    return configs.bearer(first, upf=LINK.upf_ipv4, count=count, **more)


def folder_of(name: str) -> Path:
    folder = own("e2e") / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("share", [0, 30, 70, 100])
def test_tcp_through_every_bearer_at_this_share(share):
    groups = [group(1, 4), group(20, 3, rlc="am12", pdcp_sn=12), group(40, 3, sdap=False, poll_pdu=0)]
    tree = with_share(configs.behind_a_card(f"cs{share}", groups), share)
    with CardBed(folder_of(f"card-{share}"), f"cs{share}", tree) as bed:
        bed.wait_for_neighbours()
        file = bed.web.make("share.bin", FILE_BYTES)
        for number, bearer in enumerate(bed.bearers()):
            ue = bearer["ue_ipv6" if number % 2 else "ue_ipv4"]
            assert bed.web.download(ue, file).equal and bed.web.upload(ue, file).equal, bearer
        bed.wait_for_the_last_packets()
        sums, upf, on_card = bed.assert_accounted(), bed.upf.stats()["totals"], bed.on_card()
        assert len(on_card) == share // 10
        for bearer in on_card:
            assert bearer["on_card"]["installed"]
            assert bearer["pdcp_tx_next"] == bearer["downlink"]["transmitted"] > FILE_BYTES // 1500
            assert bearer["uplink"]["transmitted"] > FILE_BYTES // 1500
        assert upf["dl_packets"] == sums["downlink"]["received"]
        assert upf["ul_packets"] == sums["uplink"]["transmitted"]
        card = bed.finish()["cards"][0]
        assert not card["punts"].get("teid_unknown") and not card["punts"].get("bearer_unknown")
        assert card["ports"][COPIES_PORT]["clones"] == sum(b["downlink"]["transmitted"] for b in on_card)


def test_two_workers_behind_one_card_get_their_own_bearers():
    """Each queue pair is a VF, and a bearer's entry says whose: a port that two workers read without a dispatcher."""
    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=3),
        configs.bearer(2, upf=LINK.upf_ipv4, shard=200),
        configs.bearer(3, upf=LINK.upf_ipv4, shard=201, card="card0"),
    ]
    tree = configs.behind_a_card("c2w", bearers, queues=2)
    with CardBed(folder_of("card-two-workers"), "c2w", tree, queues=2) as bed:
        bed.wait_for_neighbours()
        for bearer in bearers:
            assert bed.ping(bearer["ue_ipv4"]) == bed.ping(bearer["ue_ipv6"]) == 10
        counts = {3: (0, 20), 200: (1, 20), 201: (1, 20)}
        wait_until(  # a host whose card does not answer in time shows what it heard before
            "the host to show them",
            lambda: counts == {b["shard"]: (b["worker"], b["downlink"]["received"]) for b in bed.bearers()},
        )
        bed.finish()


def test_what_the_card_cannot_read_reaches_the_worker_of_its_bearer():
    """The card punts by one VF a side, the first worker's: packets of the second's bearers are handed over."""
    import gtpu
    from scapy.layers.inet import IP, UDP, IPOption_NOP
    from scapy.layers.l2 import Ether
    from scapy.packet import Raw

    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=3, card="card0"),
        configs.bearer(2, upf=LINK.upf_ipv4, shard=4),
        configs.bearer(3, upf=LINK.upf_ipv4, shard=200, card="card0", rlc="am12", pdcp_sn=12),
        configs.bearer(4, upf=LINK.upf_ipv4, shard=201),
    ]
    tree, nic = configs.behind_a_card("c2p", bearers, queues=2), {"verify_udp_checksum": True}
    with CardBed(folder_of("card-two-workers-punts"), "c2p", tree, queues=2, nic=nic) as bed:
        bed.wait_for_neighbours()
        before = {bearer["id"]: bearer for bearer in bed.bearers()}
        air, n3 = Wire(bed.network.ue, AirLink().ue_interface), Wire(bed.network.core, LINK.upf_interface)
        for _ in range(20):
            for bearer in before.values():
                inner = gtpu.packet(b"hello", SERVER_IPV4, bearer["ue_ipv4"])
                head = Ether(dst="ff:ff:ff:ff:ff:ff") / IP(src=LINK.upf_ipv4, dst=LINK.gnb_ipv4)
                frame = head / UDP(sport=2152, dport=2152, chksum=0) / Raw(gtpu.gpdu(bearer["id"], inner, 9))
                options, summed = frame.copy(), frame.copy()
                options[IP].options = [IPOption_NOP()] * 4
                del summed[UDP].chksum
                n3.send(frame, options, summed)
                air.send(uplink_segment(bearer))
            time.sleep(0.01)
        numbers = {key: bearer["pdcp_tx_next"] + 60 for key, bearer in before.items()}
        wait_until(
            "all to be numbered",
            lambda: {bearer["id"]: bearer["pdcp_tx_next"] for bearer in bed.bearers()} == numbers,
            processes=[bed.card.process],
        )
        wait_until(
            "the segments to be dropped",
            lambda: all(w["drops"].get("rlc_segment", 0) >= 40 for w in bed.gnb.control.stats()["workers"][:2]),
        )
        first, second = bed.gnb.control.stats()["workers"][:2]
        assert first["dispatched"] >= 40, "the packets with options, of two bearers"
        assert first["balanced"] and second["balanced"]
        # Some packets of the card's bearers follow those with a checksum.
        returned = first["returned"] + second["returned"]
        for drops in (first["drops"], second["drops"]):
            assert drops["rlc_segment"] == 40
            assert not drops.keys() & {"teid_unknown", "bearer_unknown", "worker_full", "tx_full"}
        punts = bed.finish()["cards"][0]["punts"]
        assert returned == 80 + punts.get("diverted", 0)
        # The last two where the bearer's entry is met, so of the card's own bearers alone.
        assert (punts["ip_options"], punts["udp_checksum"], punts["rlc_segment"]) == (80, 40, 40)


def uplink_segment(bearer: dict) -> bytes:
    """The first segment of an SDU (TS 38.322 6.2.2.4), which header mode does not know."""
    sn = {"am12": 2, "am18": 3}[bearer["rlc"]]
    modes = 2 << 5 | sn << 3 | (bearer["pdcp_sn"] == 18) << 2 | 1 << 1  # src/wire/airhdr.h: AM, SDAP
    airhdr = bytes([0x20, modes, 0, 0]) + bearer["id"].to_bytes(4, "big") + (43).to_bytes(2, "big")
    return b"\xff" * 6 + bytes(6) + b"\x88\xb5" + airhdr + b"\x90" + bytes(42)


def test_a_card_that_hangs_keeps_nobody_waiting():
    """Its socket still takes connections, and nothing answers there."""
    tree = configs.behind_a_card("chg", [group(1, 4, card="card0"), group(20, 2)])
    with CardBed(folder_of("card-hangs"), "chg", tree) as bed:
        bed.wait_for_neighbours()
        known = {bearer["id"]: bearer["pdcp_tx_next"] for bearer in bed.bearers()}
        usual = seconds_of(bed, "list")  # of this machine, which may be busy
        bed.card.process.signal(signal.SIGSTOP)
        try:
            for words in (
                ("list",),
                ("show", next(iter(known))),
                ("modify", next(iter(known)), "--poll-pdu", 7),
                ("list",),
            ):
                assert seconds_of(bed, *words) < 1 + 5 * usual, words
            wait_until("the gNB to miss it", lambda: bed.state()["state"] == "away", processes=[bed.gnb.process])
            assert {bearer["id"]: bearer["pdcp_tx_next"] for bearer in bed.bearers()} == known
        finally:
            bed.card.process.signal(signal.SIGCONT)
        wait_until("it to be back", lambda: (bed.state()["state"], bed.state()["waiting"]) == ("up", 0))
        assert bed.state()["restarts"] == 0
        assert bed.ping(bed.on_card()[0]["ue_ipv4"]) == 10
        bed.finish()


def seconds_of(bed: CardBed, *words: object) -> float:
    began = time.monotonic()
    ctl(bed, "bearer", *words)
    return time.monotonic() - began


def test_bearers_come_to_the_card_change_and_go_while_it_serves_others():
    with CardBed(folder_of("card-control"), "cct", configs.behind_a_card("cct", [group(1, 1, card="card0")])) as bed:
        bed.wait_for_neighbours()
        second = configs.bearer(7, upf=LINK.upf_ipv4)
        words = ["bearer", "add", "--card", "card0", "--upf", second["upf"], "--ul-teid", second["ul_teid"]]
        words += ["--ue-ipv4", second["ue_ipv4"], "--ue-ipv6", second["ue_ipv6"], "--qfi", 9]
        added = ctl(bed, *words)["first"]
        assert added["card"] == "card0" and bed.state()["bearers"] == 2
        bed.upf.reload(bed.tunnels())
        tun = tun_name(bed.ues[0].config)
        wait_until("the UE side to know it", lambda: has_addresses(bed.network, tun, second))
        assert bed.ping(second["ue_ipv4"]) == 10
        assert bed.ping(second["ue_ipv6"]) == 10
        # A card that does not answer in time (a busy machine) is shown with what it said last.
        wait_until("its pings to be shown", lambda: ctl(bed, "bearer", "show", added["id"])["pdcp_tx_next"] >= 20)
        shown = ctl(bed, "bearer", "show", added["id"])
        assert shown["pdcp_tx_next"] == shown["downlink"]["transmitted"]
        assert ctl(bed, "bearer", "modify", added["id"], "--qfi", 5)["qfi"] == 5
        assert ctl(bed, "bearer", "show", added["id"])["pdcp_tx_next"] >= shown["pdcp_tx_next"]
        refused = ctl(bed, *words[:4], "--upf", LINK.upf_ipv4, "--ul-teid", 99, "--rlc", "um12", code=2)
        assert "rlc is um12, which a card does not serve; allowed: am12, am18" in refused["error"]
        assert "no card 'card9'" in ctl(bed, *words[:3], "card9", *words[4:6], "--ul-teid", 99, code=2)["error"]
        assert ctl(bed, "bearer", "release", added["id"])["existed"]
        assert bed.state()["bearers"] == 1 and bed.state()["removed"] == 1
        assert bed.ping(bed.bearers()[0]["ue_ipv4"]) == 10
        bed.finish()


def ctl(bed: CardBed, *words: object, code: int = 0) -> dict:
    done = run([splitplane(), "ctl", "--config", bed.gnb.config, "--json", *words], check=False)
    assert done.returncode == code, done.stderr
    return {"error": done.stderr.strip()} if code else json.loads(done.stdout)


def test_what_the_card_cannot_read_gets_its_number_there_all_the_same():
    """IPv4 options on N3 are the host's: the packet goes up, comes back, and is numbered between its neighbours."""
    import gtpu
    from scapy.layers.inet import IP, UDP, IPOption_NOP
    from scapy.layers.l2 import Ether
    from scapy.packet import Raw

    tree = configs.behind_a_card("crt", [group(1, 1, card="card0"), group(2, 1)])
    with CardBed(folder_of("card-returned"), "crt", tree) as bed:
        bed.wait_for_neighbours()
        first = bed.on_card()[0]
        inner = gtpu.packet(b"hello", SERVER_IPV4, first["ue_ipv4"])
        message = Raw(gtpu.gpdu(first["id"], inner, 9))
        plain = Ether(dst="ff:ff:ff:ff:ff:ff") / IP(src=LINK.upf_ipv4, dst=LINK.gnb_ipv4) / UDP(sport=2152, dport=2152)
        options = plain.copy()
        options[IP].options = [IPOption_NOP()] * 4
        before = first["pdcp_tx_next"]
        capture = Capture(bed.processes, bed.network.ue, AirLink().ue_interface, bed.folder / "air.pcapng")
        n3 = Wire(bed.network.core, LINK.upf_interface)
        for _ in range(20):
            n3.send(plain / message, options / message)
            time.sleep(0.01)
        wait_until(
            "all to be numbered", lambda: bed.on_card()[0]["pdcp_tx_next"] == before + 40, processes=[bed.card.process]
        )
        capture.stop()
        after = bed.on_card()[0]
        assert after["on_card"]["returned"] == 20
        assert after["downlink"]["received"] == after["downlink"]["transmitted"] == before + 40
        worker = bed.gnb.control.stats()["workers"][0]
        assert worker["returned"] == 20 and worker["balanced"]
        numbers = numbers_on_air(bed.folder / "air.pcapng")[first["id"]]
        assert numbers.counts() == list(range(before, before + 40))
        assert bed.finish()["cards"][0]["punts"]["ip_options"] == 20


class Stamped:
    """A ping every 2 ms whose answers have the time at which they came."""

    def __init__(self, bed: CardBed, name: str, address: str):
        command = ["ping", "-n", "-D", "-I", address, "-i", "0.002", SERVER_IPV4]
        self.bed = bed
        self.process: Process = bed.processes.start(f"ping-{name}", command, bed.network.ue)

    def answers(self) -> list[tuple[float, int]]:
        """(time, sequence number), until now."""
        text = self.process.log.read_text()
        return [(float(at), int(n)) for at, n in re.findall(r"\[([\d.]+)\].*icmp_seq=(\d+) ttl", text)]

    def since(self, start: float) -> list[float]:
        return [at for at, _ in self.answers() if at >= start]


def test_a_card_that_is_killed_comes_back_and_no_count_is_used_twice():
    """Bearers on the card, on the host behind it, and on the host at an N3 port of its own, while SIGKILL ends the
    card."""
    tree = configs.behind_a_card(
        "ckl",
        [
            configs.bearer(1, upf=LINK.upf_ipv4, shard=1, card="card0"),
            configs.bearer(2, upf=LINK.upf_ipv4, shard=2, card="card0", rlc="am12", pdcp_sn=12),
            configs.bearer(3, upf=LINK.upf_ipv4, shard=3),
            configs.bearer(4, upf=SECOND.upf_ipv4, shard=200),
        ],
        ports={"n3b": configs.af_packet("gnb-n3b", 8), "airb": configs.af_packet("gnb-airb", 9)},
        n3=[configs.n3_entry("n3b", SECOND)],
        air=[{"port": "airb"}],
    )
    tree["workers"]["w0"]["shards"] = "0-127"
    second = {"core": 0, "function": "gnb", "n3": "n3b", "air": "airb", "shards": "128-255", "policy": "yield"}
    tree["workers"]["w1"] = second
    airs = (AirLink(), AirLink("gnb-airb", "ue-airb"))
    with CardBed(folder_of("card-killed"), "ckl", tree, n3=(LINK, SECOND), air=airs, split=128) as bed:
        bed.wait_for_neighbours()
        capture = Capture(
            bed.processes, bed.network.ue, "ue-air", bed.folder / "air.pcapng", octets=64, packets=1_000_000
        )
        by_shard = {bearer["shard"]: bearer for bearer in bed.bearers()}
        pings = {shard: Stamped(bed, str(shard), bearer["ue_ipv4"]) for shard, bearer in by_shard.items()}
        wait_until("traffic on all bearers", lambda: all(len(ping.answers()) > 100 for ping in pings.values()))

        for kill in range(1, 4):
            bed.kill_card()
            killed = time.time()
            wait_until("the gNB to miss its card", lambda: bed.state()["state"] == "away")
            wait_until("more packets at the other N3 port", lambda t=killed: len(pings[200].since(t + SETTLE_S)) > 50)
            assert all(not pings[shard].since(killed + SETTLE_S) for shard in (1, 2, 3))
            bed.start_card()
            back = time.time()
            resumed = [pings[shard] for shard in (1, 2, 3)]
            wait_until("them to be served again", lambda p=resumed, t=back: all(ping.since(t) for ping in p))
            late = {shard: pings[shard].since(killed + SETTLE_S)[0] - back for shard in (1, 2, 3)}
            assert max(late.values()) < 20, f"restart {kill}: resumed {late} s after the card's return"
            wait_until("more packets", lambda b=back: all(len(ping.since(b)) > 50 for ping in pings.values()))
            state = bed.state()
            assert (state["state"], state["restarts"], state["waiting"]) == ("up", kill, 0)

        for ping in pings.values():
            bed.processes.stop(ping.process)
        time.sleep(0.2)
        capture.stop()
        judge_numbers(bed, [by_shard[1]["id"], by_shard[2]["id"]], kills=3)
        answered = [n for _, n in pings[200].answers()]
        assert len(answered) == max(answered), "no packet of the untouched bearer was lost"
        stats = bed.gnb.control.stats()
        assert all(worker["balanced"] for worker in stats["workers"])
        wait_until("the epochs", lambda: [bearer["on_card"]["epoch"] for bearer in bed.on_card()] == [3, 3])
        # What came before the card was filled again went up, and back to a card that did not know the bearer yet.
        bed.finish(("returned_wrong",))


def judge_numbers(bed: CardBed, ids: list[int], kills: int):
    """By the air: no COUNT twice; RLC from 0 in every run, with the next epoch; a step below half the SN space."""
    air = numbers_on_air(bed.folder / "air.pcapng")
    for bearer in ids:
        runs, counts = air[bearer].runs(), air[bearer].counts()
        assert len(set(counts)) == len(counts), f"a COUNT of {bearer:#010x} was used twice"
        assert [epoch for epoch, _, _ in runs] == list(range(kills + 1))
        for (_, _, before), (_, rlc, after) in zip(runs, runs[1:], strict=False):
            assert rlc == list(range(len(rlc))), "RLC begins at 0, without a gap"
            assert 0 < after[0] - before[-1] < 1 << (air[bearer].sn_bits - 1)
            assert after == list(range(after[0], after[0] + len(after)))
