"""From transport blocks to IP packets: MAC subPDUs, RLC PDUs, PDCP PDUs, SDAP PDUs, each layer in a file of its own.

A block that HARQ sent again is in a capture twice, and nothing in the framing says so. It is counted as repeated if it
equals the block before it in the same process; what keeps its SDUs from coming twice is RLC and PDCP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .bearers import Bearer, Keys
from .framing import C_RNTI, DOWNLINK, UPLINK, Block
from .mac import Malformed, SubPdu, is_in_order, sub_pdus
from .pdcp import PdcpReceiver, looks_like_ip
from .report import FAULTS, WAY, Inner, Report
from .rlc import AmReceiver, UmReceiver

MOST_FAULTS_SAID = 100


class Channel:
    """Both directions of a bearer."""

    def __init__(self, bearer: Bearer, keys: tuple[bytes, bytes]) -> None:
        self.bearer = bearer
        make = AmReceiver if bearer.mode == "am" else UmReceiver
        self.rlc = [make(bearer.rlc_sn) for _ in (UPLINK, DOWNLINK)]
        self.pdcp = [PdcpReceiver(bearer, direction, keys) for direction in (UPLINK, DOWNLINK)]

    def sdus(self, pdu: bytes, direction: int) -> list[bytes]:
        rlc = self.rlc[direction]
        if isinstance(rlc, AmReceiver):
            return rlc.receive(pdu, self.rlc[1 - direction])
        return rlc.receive(pdu)


class Walk:
    def __init__(self, bearers: Iterable[Bearer], keys: Keys) -> None:
        bearers = list(bearers)
        self.report = Report()
        self.rntis = {bearer.rnti for bearer in bearers}
        self.without_keys = {(b.rnti, b.lcid) for b in bearers if b.key not in keys}
        self.channels = {(b.rnti, b.lcid): Channel(b, keys[b.key]) for b in bearers if b.key in keys}
        self.last_block: dict[tuple[int, int, int | None], bytes] = {}  # of a UE, direction and HARQ process

    def take(self, block: Block) -> None:
        ue = self.report.ues[block.rnti, block.direction]
        ue["blocks"] += 1
        ue["octets"] += len(block.pdu)
        process = (block.rnti, block.direction, block.harq)
        ue["blocks_repeated"] += self.last_block.get(process) == block.pdu
        self.last_block[process] = block.pdu
        if block.rnti_type != C_RNTI or block.rnti not in self.rntis:
            self.count(ue, "unknown_ue", block)
            return
        seen: list[SubPdu] = []
        try:
            for one in sub_pdus(block.pdu, block.direction):
                seen.append(one)
                if one.kind == "sdu":
                    ue["sdus"] += 1
                    self.take_sdu(block, one)
                elif one.kind == "padding":
                    ue["padding_octets"] += 1 + len(one.payload)
                else:
                    ue["ce_" + one.kind] += 1
        except Malformed as wrong:
            self.count(ue, "block_malformed", block, str(wrong))
        if not is_in_order(seen, block.direction):
            self.count(ue, "elements_out_of_order", block)
        for lcid in {one.lcid for one in seen if one.kind == "sdu"}:
            self.report.bearers[block.rnti, lcid, block.direction]["blocks"] += 1

    def take_sdu(self, block: Block, one: SubPdu) -> None:
        counts = self.report.bearers[block.rnti, one.lcid, block.direction]
        counts["mac_sdus"] += 1
        counts["mac_sdu_octets"] += len(one.payload)
        channel = self.channels.get((block.rnti, one.lcid))
        if channel is None:
            reason = "no_keys" if (block.rnti, one.lcid) in self.without_keys else "unknown_channel"
            self.count(counts, reason, block, f"LCID {one.lcid}")
            return
        rlc, pdcp = channel.rlc[block.direction], channel.pdcp[block.direction]
        for pdu in channel.sdus(one.payload, block.direction):
            counts["rlc_sdus"] += 1
            sdu = pdcp.receive(pdu)
            if sdu is None:
                continue
            if not looks_like_ip(sdu.octets):
                self.count(counts, "not_ip", block, f"COUNT {sdu.count}: {sdu.octets[:8].hex()}..")
                continue
            counts["ip_packets"] += 1
            counts["ip_octets"] += len(sdu.octets)
            self.report.packets.append(
                Inner(block.frame, block.time, block.direction, block.rnti, one.lcid, sdu.count, sdu.qfi, sdu.octets)
            )
        for below in (rlc.counts, pdcp.counts):
            for name, more in below.items():
                if more:
                    self.count(counts, name, block, f"LCID {one.lcid}", more)
            below.clear()

    def count(self, counts: Counter[str], name: str, block: Block, text: str = "", more: int = 1) -> None:
        counts[name] += more
        if name in FAULTS and len(self.report.first_faults) < MOST_FAULTS_SAID:
            where = f"frame {block.frame}, RNTI {block.rnti}, {WAY[block.direction]}"
            self.report.first_faults.append(f"{where}: {name}" + (f" ({text})" if text else ""))

    def end(self) -> Report:
        for (rnti, lcid), channel in self.channels.items():
            for direction, rlc in enumerate(channel.rlc):
                rlc.end()
                if unfinished := rlc.counts["rlc_unfinished"]:
                    self.report.bearers[rnti, lcid, direction]["rlc_unfinished"] += unfinished
        return self.report


def walk(blocks: Iterable[Block], bearers: Iterable[Bearer], keys: Keys) -> Report:
    """Reads all blocks in their order. `keys`: by number, as read_keys() has them."""
    one = Walk(bearers, keys)
    for block in blocks:
        one.take(block)
    return one.end()
