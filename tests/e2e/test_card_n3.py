"""What a card and its host write and count on N3: IPv6 both ways, the marks of QoS flows, the octets of a bearer.
tshark judges what leaves for the UPF."""

from __future__ import annotations

import configs
import gtpu
import pcap
from card_wires import (
    SERVER,
    CardWires,
    assert_numbered,
    behind_one_card,
    by_bearer,
    gpdu_in,
    number_of,
    sdu,
    to_gnb,
    uplink,
)
from judge import CHECKSUMS, N3_FIELDS, judge
from namespaces import N3Link
from processes import wait_until

LINK = N3Link()
COUNT = 60
SIZES = (20, 400, 1300)  # of the payload, in turn


def pair(first: int, upf: str, **more) -> list[dict]:
    """A bearer on the card and one on the host."""
    return [
        configs.bearer(first, upf=upf, shard=first, card="card0", **more),
        configs.bearer(first + 1, upf=upf, shard=first + 1, **more),
    ]


def packets(ue: str, count: int = COUNT) -> list[bytes]:
    return [sdu(number, ue, octets=SIZES[number % len(SIZES)]) for number in range(count)]


def judged(bed: CardWires, frames: list[bytes], *fields: str) -> list[dict[str, str]]:
    """A row of tshark for each frame; it finds nothing wrong with any, checksums included."""
    path = bed.folder / "n3.pcap"
    pcap.write(path, frames)
    verdict = judge(path, (*N3_FIELDS, *fields), CHECKSUMS)
    assert not verdict.complaints and len(verdict.rows) == len(frames), verdict
    return verdict.rows


def test_a_card_serves_its_bearers_over_ipv6_and_the_uplink_goes_by_the_host():
    bearers = pair(1, LINK.upf_ipv6) + pair(3, LINK.upf_ipv6, rlc="am12", pdcp_sn=12) + pair(5, LINK.upf_ipv4)
    with behind_one_card("cn6", bearers) as bed:
        shown = bed.bearers()
        sent = {key: packets(bearer["ue_ipv4"]) for key, bearer in shown.items()}
        for number in range(COUNT):
            for key, bearer in shown.items():
                v6 = ":" in bearer["upf"]
                bed.n3[0].send(to_gnb(gtpu.gpdu(key, sent[key][number], 9), v6=v6))
                bed.air[0].send(uplink(bearer, number, sdu(number, SERVER, bearer["ue_ipv4"])))
        found = by_bearer(bed.on_air(COUNT * len(shown)))
        frames = bed.on_n3(COUNT * len(shown))
        assert not bed.quiet_on_air() and found.keys() == shown.keys()
        for key, pdus in found.items():
            assert_numbered(pdus)
            assert [pdu.inner() for pdu in pdus] == sent[key]
        numbers, on_card = bed.numbers(), [key for key, bearer in shown.items() if bearer.get("card")]
        assert [numbers[key]["dl_packets"] for key in on_card] == [COUNT] * 3
        over_v6 = [key for key in on_card if ":" in shown[key]["upf"]]
        # Their UDP checksum covers the T-PDU, which the card cannot add up.
        assert bed.punts() == {"peer_unresolved": COUNT * len(over_v6)}
        assert [numbers[key]["ul_packets"] for key in on_card] == [0 if key in over_v6 else COUNT for key in on_card]
        by_teid: dict[int, list[int]] = {}
        for frame in frames:
            message = gpdu_in(frame)
            by_teid.setdefault(message["teid"], []).append(number_of(message["payload"]))
        assert by_teid == {bearer["ul_teid"]: list(range(COUNT)) for bearer in shown.values()}
        for row, frame in zip(judged(bed, frames), frames, strict=True):
            upf = next(b["upf"] for b in shown.values() if b["ul_teid"] == int(row["gtp.teid"], 0))
            ends = (LINK.gnb_ipv6, LINK.upf_ipv6) if ":" in upf else (LINK.gnb_ipv4, LINK.upf_ipv4)
            family = "ipv6" if ":" in upf else "ip"
            # The T-PDU has addresses, too: tshark names both, the outer one first.
            assert tuple(row[f"{family}.{end}"].split(";")[0] for end in ("src", "dst")) == ends, frame.hex()
            assert ":" not in upf or row["udp.checksum.status"].split(";")[0] == "1", "good, and there"
        assert bed.drops() == {}
        bed.finish()


def over_ipv6(teid: int, number: int, ue: str, headers: bytes = b"") -> bytes:
    """With `headers` in front of the outer UDP header."""
    message = gtpu.gpdu(teid, sdu(number, ue), 9)
    frame = to_gnb(message, v6=True)
    if not headers:
        return frame
    length = (len(frame) - 54 + len(headers)).to_bytes(2, "big")
    return frame[:18] + length + b"\x3c" + frame[21:54] + headers + frame[54:]


def test_what_the_card_cannot_read_over_ipv6_comes_by_the_host_or_is_settled():
    """A chain of extension headers keeps its place. One that must be understood, and is not, is settled. Destination
    options of the outer header hide the bearer from the card."""
    with behind_one_card("cn6p", pair(1, LINK.upf_ipv6)) as bed:
        (bearer,) = [one for one in bed.bearers().values() if one.get("card")]
        kept = []
        for number in range(COUNT):
            kind = number % 4
            second = {1: 0x40, 3: 0xFE}.get(kind, 0)
            extension = bytes([1, 0, 9, second]) + (b"\1\x08\x68\0" if second else b"")
            message = gtpu.message(255, bearer["id"], sdu(number, bearer["ue_ipv4"]), extension)
            bed.n3[0].send(to_gnb(message, v6=True))
            kept += [] if kind == 3 else [number]
        pdus = bed.on_air(len(kept))
        assert_numbered(pdus)
        assert [number_of(pdu.inner()) for pdu in pdus] == kept
        bed.nothing_in_flight()
        worker = bed.gnb.control.stats()["workers"][0]
        assert (worker["settled"], worker["card_resettled"]) == (COUNT // 4, 0)
        assert bed.drops() == {"gtpu_extension_unknown_required": COUNT // 4}
        assert not bed.punts().get("outer_ipv6")

        options = b"\x11\x00" + b"\x01\x04\0\0\0\0"  # next: UDP; PadN
        bed.n3[0].send(over_ipv6(bearer["id"], 1000, bearer["ue_ipv4"], options))
        (pdu,) = bed.on_air(1)
        assert (number_of(pdu.inner()), pdu.bearer) == (1000, bearer["id"])
        assert bed.punts()["outer_ipv6"] == 1
        wait_until("the host to show it", lambda: bed.show(bearer["id"])["downlink"]["transmitted"] == len(kept) + 1)
        shown = bed.show(bearer["id"])
        assert shown["downlink"]["transmitted"] == len(kept) + 1
        assert shown["downlink"]["bytes"] == 52 * (len(kept) + 1)
        bed.finish(card_drops=("settled",))


def test_udp_checksums_over_ipv6_are_verified_by_the_host_if_the_card_leaves_them_to_it():
    tree = configs.behind_a_card("cn6c", pair(1, LINK.upf_ipv6))
    tree["ports"]["vf-n3"]["checksum"] = "software"
    with CardWires("cn6c", tree, {"card0": configs.nic("cn6c", verify_udp_checksum=True)}) as bed:
        (bearer,) = [one for one in bed.bearers().values() if one.get("card")]
        for number in range(20):
            frame = bytearray(over_ipv6(bearer["id"], number, bearer["ue_ipv4"]))
            frame[-1] ^= number % 2
            bed.n3[0].send(bytes(frame))
        pdus = bed.on_air(10)
        assert [number_of(pdu.inner()) for pdu in pdus] == list(range(0, 20, 2))
        assert_numbered(pdus)
        bed.nothing_in_flight()
        assert sum(bed.drops().values()) == 10 and bed.punts() == {"udp_checksum": 20}, bed.drops()
        assert not bed.quiet_on_air()
        bed.finish(card_drops=("settled",))


def test_bearer_show_has_the_octets_of_a_bearer_wherever_it_is_served():
    """Octets of T-PDUs, as the UPF's side counts them; a packet that goes by the host counts once."""
    with behind_one_card("cnoct", pair(1, LINK.upf_ipv4)) as bed:
        bearers = bed.bearers()
        down = dict.fromkeys(bearers, 0)
        up = dict.fromkeys(bearers, 0)
        for number in range(COUNT):
            for key, bearer in bearers.items():
                inner = sdu(number, bearer["ue_ipv4"], octets=SIZES[number % 3])
                second = number % 5 == 0  # which the card cannot read
                extension = bytes([1, 0, 9, 0x40]) + b"\1\x08\x68\0" if second else bytes([1, 0, 9, 0])
                bed.n3[0].send(to_gnb(gtpu.message(255, key, inner, extension)))
                down[key] += len(inner)
                answer = sdu(number, SERVER, bearer["ue_ipv4"], octets=SIZES[(number + 1) % 3])
                bed.air[0].send(uplink(bearer, number, answer))
                up[key] += len(answer)
        pdus, frames = bed.on_air(2 * COUNT), bed.on_n3(2 * COUNT)
        assert {key: sum(len(pdu.inner()) for pdu in some) for key, some in by_bearer(pdus).items()} == down
        assert sum(len(gpdu_in(frame)["payload"]) for frame in frames) == sum(up.values())
        for key in bearers:
            wait_until(
                "the host to show them",
                lambda k=key: all(bed.show(k)[way]["transmitted"] == COUNT for way in ("downlink", "uplink")),
            )
            shown = bed.show(key)
            assert (shown["downlink"]["bytes"], shown["uplink"]["bytes"]) == (down[key], up[key]), shown
            assert (shown["downlink"]["transmitted"], shown["uplink"]["transmitted"]) == (COUNT, COUNT)
        (served,) = [row for row in bed.numbers().values() if row["dl_packets"]]
        on_card = next(key for key, bearer in bearers.items() if bearer.get("card"))
        assert (served["dl_octets"], served["ul_octets"]) == (down[on_card], up[on_card])
        bed.finish()


MARKS = {5: 46, 9: 10, 63: 63}


def test_card_and_host_mark_uplink_packets_of_a_flow_alike():
    """`dscp` at the N3 entry, by QFI: of the SDAP header, or the bearer's own where it has none."""
    bearers = pair(1, LINK.upf_ipv4) + pair(3, LINK.upf_ipv4, sdap=False, qfi=5) + pair(5, LINK.upf_ipv6)
    tree = configs.behind_a_card("cndscp", bearers)
    tree["n3"][0]["dscp"] = [f"{qfi}={dscp}" for qfi, dscp in MARKS.items()]
    with CardWires("cndscp", tree, {"card0": configs.nic("cndscp")}) as bed:
        shown = bed.bearers()
        qfis = [5, 0, 9, 63, 62, 1]
        for sn, qfi in enumerate(qfis * 5):
            for bearer in shown.values():
                inner = sdu(sn, SERVER, bearer["ue_ipv4"], octets=7 * sn)
                bed.air[0].send(uplink(bearer, sn, inner, qfi))
        frames = bed.on_n3(len(qfis) * 5 * len(shown))
        by_teid = {bearer["ul_teid"]: bearer for bearer in shown.values()}
        rows = judged(bed, frames, "ip.dsfield.dscp", "ipv6.tclass.dscp", "ip.checksum.status")
        seen = set()
        heads: dict[tuple[int, int], set[bytes]] = {}
        for row, frame in zip(rows, frames, strict=True):
            bearer = by_teid[int(row["gtp.teid"], 0)]
            v6 = ":" in bearer["upf"]
            qfi = int(row["gtp.ext_hdr.pdu_ses_con.qos_flow_id"])
            assert bearer["sdap"]["ul"] or qfi == 5
            dscp = row["ipv6.tclass.dscp" if v6 else "ip.dsfield.dscp"].split(";")[0]
            assert int(dscp) == MARKS.get(qfi, 0), frame.hex()
            assert v6 or row["ip.checksum.status"].split(";")[0] == "1", frame.hex()
            seen.add((bearer["id"], qfi))
            if not v6 and bearer["sdap"]["ul"]:
                heads.setdefault((qfi, len(frame)), set()).add(frame[14:34])
        assert len(seen) == 4 * len(qfis) + 2, "each flow on each bearer"
        # Packets of one flow and length have the same IPv4 header, whoever wrote it.
        assert len(heads) == 30 and all(len(some) == 1 for some in heads.values())
        on_card = [b["id"] for b in shown.values() if b.get("card") and ":" not in b["upf"]]
        wait_until("the card's counters", lambda: all(bed.numbers()[key]["ul_packets"] == 30 for key in on_card))
        assert bed.drops() == {}
        bed.finish()
