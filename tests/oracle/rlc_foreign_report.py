"""The legal ways to write a STATUS PDU (TS 38.322 5.3.4), as one or another sender writes it.

A hole may be one NACK or several, neighbours may be one range or not, and a report that does not fit its grant is cut
between SDUs or inside one. ACK_SN never says more than the report does: what stands before it and is not reported was
received.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from rlc_foreign_pdu import END, REPORT_HEAD, Nack, Report

MAX_RANGE = 255


@dataclass(frozen=True)
class Hole:
    """Octets first..last of the SDU; last is None where everything up to the unknown end is missing."""

    sn: int
    first: int = 0
    last: int | None = None

    @property
    def whole(self) -> bool:
        return self.first == 0 and self.last is None


@dataclass(frozen=True)
class Habits:
    """How one sender writes its reports; each is a probability."""

    merge: float  # neighbours become one range
    split: float  # one hole becomes two NACKs
    offsets: float  # SO 0 to END where no SO is needed
    range_of_one: float  # E3 with a range of 1
    trim: float  # a last range is cut short although it fits
    beyond: float  # a range goes on behind ACK_SN
    cuts: tuple[str, ...]  # what is done where a report does not fit, one at random

    @staticmethod
    def drawn(rng: random.Random) -> Habits:
        return Habits(
            merge=rng.choice((0.0, 0.5, 1.0, 1.0, 1.0, 1.0)),
            split=rng.choice((0.0, 0.0, 0.3, 0.8)),
            offsets=rng.choice((0.0, 0.0, 0.2, 1.0)),
            range_of_one=rng.choice((0.0, 0.0, 0.2, 1.0)),
            trim=rng.choice((0.0, 0.0, 0.2)),
            beyond=rng.choice((0.0, 0.0, 0.1)),
            cuts=rng.choice((("before",), ("open",), ("before", "open", "beside"))),
        )


class Writer:
    """Writes reports by habit, and counts the forms that it used."""

    def __init__(self, bits: int, habits: Habits, rng: random.Random) -> None:
        self.bits, self.habits, self.rng = bits, habits, rng
        self.forms: Counter[str] = Counter()

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def write(self, holes: list[Hole], limit: int, grant: int) -> Report:
        """`limit` is the highest value that ACK_SN may take (RX_Highest_Status); `holes` ascend and lie before it."""
        report = self.cut(self.blocks(holes), limit, grant)
        assert report.size(self.bits) <= grant
        self.note(report, limit)
        return report

    def blocks(self, holes: list[Hole]) -> list[list[Hole]]:
        """Each inner list becomes one NACK: neighbours without a received octet between them."""
        pieces: list[Hole] = []
        for hole in holes:
            if hole.last is not None and hole.last > hole.first and self.chance(self.habits.split):
                middle = self.rng.randrange(hole.first, hole.last)
                pieces += [Hole(hole.sn, hole.first, middle), Hole(hole.sn, middle + 1, hole.last)]
                self.forms["a hole in two NACKs"] += 1
            else:
                pieces.append(hole)
        out: list[list[Hole]] = []
        for piece in pieces:
            before = out[-1] if out else None
            if (
                before is not None
                and before[-1].last is None
                and before[-1].sn + 1 == piece.sn
                and piece.first == 0
                and len(before) < MAX_RANGE
                and self.chance(self.habits.merge)
            ):
                before.append(piece)
            else:
                out.append([piece])
        return out

    def nack(self, block: list[Hole]) -> Nack:
        first, last = block[0].first, block[-1].last
        count = len(block) if len(block) > 1 or self.chance(self.habits.range_of_one) else None
        if first == 0 and last is None and not self.chance(self.habits.offsets):
            return Nack(block[0].sn, count=count)
        return Nack(block[0].sn, first, END if last is None else last, count)

    def cut(self, blocks: list[list[Hole]], limit: int, grant: int) -> Report:
        nacks, kept, used = [], [], REPORT_HEAD
        for block in blocks:
            nack = self.nack(block)
            used += nack.size(self.bits)
            if used > grant:
                break
            nacks.append(nack)
            kept.append(block)
        left = blocks[len(kept) :]
        if left:
            way = self.rng.choice(self.habits.cuts)
            if way == "beside":
                return self.cut_beside(nacks, left)
            # A report without anything of the first SDU would say nothing for ever.
            if way == "open" or left[0][0].sn == blocks[0][0].sn:
                return self.cut_open(nacks, kept, left, limit)
            return self.cut_before(nacks, left)
        if kept and len(kept[-1]) > 1 and self.chance(self.habits.trim):
            stop = kept[-1][self.rng.randrange(1, len(kept[-1]))].sn
            self.forms["a range cut short"] += 1
            return Report(stop, (*nacks[:-1], self.shortened(nacks[-1], stop)))
        if kept and len(kept[-1]) > 1 and self.chance(self.habits.beyond):
            self.forms["a range that goes on behind ACK_SN"] += 1
            return Report(kept[-1][self.rng.randrange(1, len(kept[-1]))].sn, tuple(nacks))
        return Report(limit, tuple(nacks))

    def shortened(self, nack: Nack, stop: int) -> Nack:
        """The same range up to the SDU before `stop`, whose end it reaches."""
        return Nack(nack.sn, nack.first, None if nack.first is None else END, stop - nack.sn)

    def cut_before(self, nacks: list[Nack], left: list[list[Hole]]) -> Report:
        """ACK_SN is the first SDU of which anything did not fit; nothing of it is reported."""
        stop = left[0][0].sn
        while nacks and nacks[-1].sn >= stop:
            nacks.pop()
        if nacks and nacks[-1].sn + (nacks[-1].count or 1) > stop:
            nacks[-1] = self.shortened(nacks[-1], stop)
            self.forms["a range cut short"] += 1
        self.forms["cut before an SDU"] += 1
        return Report(stop, tuple(nacks))

    def cut_beside(self, nacks: list[Nack], left: list[list[Hole]]) -> Report:
        """ACK_SN is the first SDU of which anything did not fit; what did fit of it is reported all the same."""
        stop = left[0][0].sn
        inside = bool(nacks) and nacks[-1].sn + (nacks[-1].count or 1) > stop
        self.forms["cut inside an SDU, ACK_SN is that SDU" if inside else "cut before an SDU"] += 1
        return Report(stop, tuple(nacks))

    def cut_open(self, nacks: list[Nack], kept: list[list[Hole]], left: list[list[Hole]], limit: int) -> Report:
        """The last NACK runs to the end of its SDU, ACK_SN stands behind it."""
        if not nacks or kept[-1][-1].sn != left[0][0].sn:
            return self.cut_before(nacks, left)
        end = left[0][0].sn
        first = next((hole.sn for block in left for hole in block if hole.sn > end), limit)
        last = nacks[-1]
        nacks[-1] = Nack(last.sn, last.first, END, last.count)
        self.forms["cut inside an SDU, reported to its end"] += 1
        return Report(first, tuple(nacks))

    def note(self, report: Report, limit: int) -> None:
        self.forms["all"] += 1
        following = (*report.nacks[1:], None)
        for number, nack in enumerate(report.nacks):
            after = following[number]
            end = nack.sn + (nack.count or 1) - 1
            ranged = (nack.count or 1) > 1
            if ranged and nack.first is not None:
                self.forms["a range with SO"] += 1
                if after is not None and after.sn == end:
                    self.forms["a range with SO, the next NACK in its last SDU"] += 1
            if ranged and (nack.sn >> self.bits) != (end >> self.bits):
                self.forms["a range across the wrap"] += 1
            if nack.count == 1:
                self.forms["a range of 1"] += 1
