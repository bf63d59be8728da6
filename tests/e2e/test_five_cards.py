"""Five cards before one host. Each card has two queue pairs, and so two workers of the host. A worker reads the VFs of
one card alone, so five cards have ten. Every packet is accounted for, in each process, and comes in order."""

from __future__ import annotations

import air_views
import configs
import gtpu
import pcap
import pytest
from card_wires import (
    CardWires,
    assert_numbered,
    by_bearer,
    gpdu_in,
    is_air,
    is_gpdu,
    number_of,
    pdus_of,
    sdu,
    to_gnb,
    uplink,
)
from judge import PDCP, RLC, judge
from namespaces import AirLink, N3Link

CARDS, QUEUES = 5, 2
ROUNDS, IN_A_ROUND = 10, 50  # of each bearer, in each direction: no queue holds more than a round
NAME = "five"
SMALL = {"megabytes": 160, "mbufs": 8191, "hugepages": "never"}
LINKS = tuple(
    N3Link(f"upf-n3-{c}", f"gnb-n3-{c}", f"10.10{c}.0.2", f"fd00:10{c}::2", f"10.10{c}.0.1", f"fd00:10{c}::1")
    for c in range(CARDS)
)
AIRS = tuple(AirLink(f"gnb-air-{c}", f"ue-air-{c}") for c in range(CARDS))


def shard_of(card: int, queue: int) -> int:
    return (card * QUEUES + queue) * 25


def bearers_of(card: int) -> list[dict]:
    """For each worker one bearer on the card and one on the host; they differ in the lengths of their SNs."""
    found = []
    for queue in range(QUEUES):
        shard, number = shard_of(card, queue), 4 * card + 2 * queue
        twelve = {"rlc": "am12", "pdcp_sn": 12} if (card + queue) % 2 else {}
        found.append(configs.bearer(number, upf=LINKS[card].upf_ipv4, shard=shard, card=f"card{card}", **twelve))
        found.append(configs.bearer(number + 1, upf=LINKS[card].upf_ipv4, shard=shard, **twelve))
    return found


def host() -> dict:
    vfs = [(f"vf-n3-{c}", f"vf-air-{c}") for c in range(CARDS)]
    worker = {"core": 0, "function": "gnb", "features": "mat", "policy": "yield"}
    return configs.gnb(
        NAME,
        memory={"megabytes": 220, "mbufs": 4095, "hugepages": "never"},
        ports={
            name: configs.vhost(NAME, name, number, QUEUES)
            for number, name in enumerate(name for pair in vfs for name in pair)
        },
        n3=[configs.n3_entry(n3, link) for (n3, _), link in zip(vfs, LINKS, strict=True)],
        air=[{"port": air} for _, air in vfs],
        workers={
            f"w{c}{q}": worker | {"n3": n3, "air": air, "queue": q, "shards": f"{shard_of(c, q)}-{shard_of(c, q) + 24}"}
            for c, (n3, air) in enumerate(vfs)
            for q in range(QUEUES)
        },
        cards={
            f"card{c}": {"control": configs.control(f"{NAME}-nic{c}"), "vfs": [n3, air], "n3": n3, "air": air}
            for c, (n3, air) in enumerate(vfs)
        },
        bearers=[bearer for card in range(CARDS) for bearer in bearers_of(card)],
    )


def card(number: int) -> dict:
    n3, air = f"vf-n3-{number}", f"vf-air-{number}"
    return {
        "file_prefix": configs.prefix(f"{NAME}-nic{number}"),
        "memory": SMALL,
        "ports": {
            "n3": configs.af_packet(LINKS[number].gnb_interface, 0),
            "air": configs.af_packet(AIRS[number].gnb_interface, 1),
            n3: configs.virtio_user(NAME, n3, 0, QUEUES),
            air: configs.virtio_user(NAME, air, 1, QUEUES),
        },
        "card": {
            "name": f"card{number}", "program": "gnb", "features": "mat", "core": 1, "policy": "yield",
            "n3": "n3", "air": "air", "vfs": [n3, air], "max_bearers": 1024,
        },
    }  # fmt: skip


def exchange(bed: CardWires) -> tuple[list[list[bytes]], list[list[bytes]]]:
    """Sends all rounds; what came on each card's air and N3 wire."""
    air: list[list[bytes]] = [[] for _ in range(CARDS)]
    n3: list[list[bytes]] = [[] for _ in range(CARDS)]
    bearers = list(bed.bearers().values())
    cards = [[b for b in bearers if b["upf"] == link.upf_ipv4] for link in LINKS]
    for begin in range(0, ROUNDS * IN_A_ROUND, IN_A_ROUND):
        for c, own in enumerate(cards):
            for number in range(begin, begin + IN_A_ROUND):
                bed.n3[c].send(*(to_gnb(gpdu(b, number), LINKS[c]) for b in own))
                bed.air[c].send(*(uplink(b, number, sdu(number, "10.200.0.1", b["ue_ipv4"])) for b in own))
        for c, own in enumerate(cards):
            air[c] += bed.air[c].gather("frame on the air", is_air, len(own) * IN_A_ROUND)
            n3[c] += bed.n3[c].gather("G-PDU", is_gpdu, len(own) * IN_A_ROUND)
    for c in range(CARDS):  # a packet that comes twice comes late
        air[c] += bed.air[c].frames(0.1)
        n3[c] += bed.n3[c].frames(0.1)
    return air, n3


def gpdu(bearer: dict, number: int) -> bytes:
    return gtpu.gpdu(bearer["id"], sdu(number, bearer["ue_ipv4"]), bearer["qfi"])


@pytest.mark.nightly
def test_five_cards_and_their_host_account_for_every_packet():
    each = ROUNDS * IN_A_ROUND
    with CardWires(NAME, host(), {f"card{c}": card(c) for c in range(CARDS)}, LINKS, AIRS) as bed:
        air, n3 = exchange(bed)
        bearers, numbers = bed.bearers(), {}
        for c in range(CARDS):
            numbers |= bed.numbers(f"card{c}")
        host_drops = bed.drops()
        gnb, cards = bed.finish()

    assert len(bearers) == 4 * CARDS and numbers.keys() == bearers.keys(), "each card knows the host's bearers, too"
    for c in range(CARDS):
        own = {key: b for key, b in bearers.items() if b["upf"] == LINKS[c].upf_ipv4}
        found = by_bearer(pdus_of(air[c]))
        assert found.keys() == own.keys() and len(air[c]) == each * len(own)
        for key, pdus in found.items():
            assert_numbered(pdus)
            assert [number_of(pdu.inner()) for pdu in pdus] == list(range(each)), f"{key:#x} downlink"
            assert {pdu.pdcp_sn_bits for pdu in pdus} == {own[key]["pdcp_sn"]}
        sent_up: dict[int, list[int]] = {b["ul_teid"]: [] for b in own.values()}
        for frame in n3[c]:
            message = gpdu_in(frame)
            sent_up[message["teid"]].append(number_of(message["payload"]))
        assert all(got == list(range(each)) for got in sent_up.values()), "each uplink packet once, in order"

    octets = each * (20 + 8 + 24)
    for key, bearer in bearers.items():
        for way in ("downlink", "uplink"):
            shown = bearer[way]
            assert (shown["received"], shown["transmitted"], shown["dropped"]) == (each, each, 0), (key, way)
            assert shown["bytes"] == octets, (key, way)
    for key, row in numbers.items():
        served = each if bearers[key].get("card") else 0
        assert (row["dl_packets"], row["ul_packets"], row["in_flight"]) == (served, served, 0)

    assert not host_drops and not any(w["drops"] for w in gnb["workers"])
    for worker in gnb["workers"]:  # its one bearer on the host, both ways
        assert (worker["received"], worker["transmitted"], worker["balanced"]) == (2 * each, 2 * each, True)
    for c, stats in enumerate(cards.values()):
        assert not stats["drops"] and not any(stats["punts"].values()) and stats["tx_full"] == 0, stats
        rows = {row["name"]: (row["in"], row["out"]) for row in stats["ports"]}
        # A wire carries four bearers, a VF one.
        assert rows["n3"] == rows["air"] == (4 * each, 4 * each)
        vfs = [rows[f"{side}-{c}/{q}"] for side in ("vf-n3", "vf-air") for q in range(QUEUES)]
        assert vfs == [(each, each)] * len(vfs)

    judge_by_tshark(bed, [frame for frames in air for frame in frames], each, set(bearers))


def judge_by_tshark(bed: CardWires, frames: list[bytes], each: int, bearers: set[int]):
    """The same by tshark: SNs of RLC and PDCP, and nothing that it finds wrong."""
    rlc, pdcp, ues = air_views.views(iter(pdus_of(frames)))
    assert set(ues) == bearers
    path = bed.folder / "air.pcap"
    pcap.write(path, rlc + pdcp)
    fields = {"rlc-nr.ueid": "rlc-nr.am.sn", "pdcp-nr.ueid": "pdcp-nr.seq-num"}
    verdict = judge(path, (*fields, *fields.values()), [*RLC, *PDCP])
    assert not verdict.complaints, verdict
    for ue, sn in fields.items():
        seen: dict[str, list[int]] = {}
        for row in verdict.rows:
            if row[ue]:
                seen.setdefault(row[ue], []).append(int(row[sn], 0))
        assert len(seen) == len(bearers) and all(sns == list(range(each)) for sns in seen.values()), sn
