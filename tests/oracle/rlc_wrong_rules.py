"""Models with one wrong rule each, made by changing one place of a model's text: the comparison must find every one."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

MODULES = ("rlc_segments", "rlc_model_am_tx", "rlc_model_am_rx", "rlc_model_am", "rlc_model_um", "rlc_hosts")


@dataclass(frozen=True)
class Wrong:
    name: str
    mode: str  # am or um
    module: str
    right: str
    wrong: str
    at_the_wall: bool = False  # shows only where the transmit window is full

    def host_class(self) -> type:
        """ModelHost of a second set of modules, in which `wrong` stands in the place of `right`."""
        saved = {name: sys.modules.pop(name, None) for name in MODULES}
        try:
            for name in MODULES:
                path = Path(__file__).with_name(f"{name}.py")
                text = path.read_text()
                if name == self.module:
                    assert text.count(self.right) == 1, f"{self.right!r} is not in {path.name} exactly once"
                    text = text.replace(self.right, self.wrong)
                sys.modules[name] = module = ModuleType(name)
                exec(compile(text, str(path), "exec"), vars(module))
            return module.ModelHost
        finally:
            for name, original in saved.items():
                del sys.modules[name]
                if original is not None:
                    sys.modules[name] = original


def am_tx(name: str, right: str, wrong: str) -> Wrong:
    return Wrong(name, "am", "rlc_model_am_tx", right, wrong)


def wall(name: str, right: str, wrong: str) -> Wrong:
    return replace(am_tx(name, right, wrong), at_the_wall=True)


def am_rx(name: str, right: str, wrong: str) -> Wrong:
    return Wrong(name, "am", "rlc_model_am_rx", right, wrong)


def um(name: str, right: str, wrong: str) -> Wrong:
    return Wrong(name, "um", "rlc_model_um", right, wrong)


def segments(name: str, right: str, wrong: str) -> Wrong:
    return Wrong(name, "am", "rlc_segments", right, wrong)


SENDING = (
    am_tx("an SDU that is half sent may be discarded", "for sdu in self.queue if", "for sdu in self.queue[1:] if"),
    wall("the window is one narrower", "self.above(self.tx_next) >= self", "self.above(self.tx_next) + 1 >= self"),
    am_tx(
        "a segment needs two octets of room",
        "if room < 1:\n            return None\n        data = sdu",
        "if room < 2:\n            return None\n        data = sdu",
    ),
    am_tx("an empty buffer is one without the half sent SDU", "self.queued() == 0", "not self.queue"),
    am_tx("pending retransmissions leave the buffers empty", "== 0 and not self.pending", "== 0"),
    wall("stalled in spite of a half sent SDU", "_size and self.partly_sent() is None", "_size"),
    wall("never stalled", "or self.window_stalled()\n\n", "\n\n"),
    am_tx("retransmission in order of NACKs", "min(self.pending, key=self.above)", "next(iter(self.pending))"),
    wall("retransmission by number instead of window order", "min(self.pending, key=self.above)", "min(self.pending)"),
    am_tx(
        "retransmissions count as PDUs without poll",
        "data = self.unacked[sn].data[so",
        "self.pdu_without_poll += 1\n        data = self.unacked[sn].data[so",
    ),
    am_tx("poll one PDU late", "self.pdu_without_poll >= config", "self.pdu_without_poll > config"),
    am_tx("poll one octet late", "self.byte_without_poll >= config", "self.byte_without_poll > config"),
    am_tx("POLL_SN is the SN of the PDU", "self.poll_sn = self.highest_sn()", "self.poll_sn = sn"),
    am_tx(
        "a poll restarts no running timer",
        "            self.t_poll_retransmit = now +",
        "            self.t_poll_retransmit = self.t_poll_retransmit or now +",
    ),
)
STATUS_RECEIVED = (
    am_tx(
        "a NACK does not answer a poll",
        "return self.above(self.poll_sn) < ack",
        "return self.above(self.poll_sn) < ack - 1",
    ),
    am_tx("ACK_SN may be one ahead", "if ack > self.above", "if ack > 1 + self.above"),
    am_tx("NACKs in any order", "not self.ascends(before, block)", "False"),
    am_tx("one hole of an SDU only", "if block.first == before.last and block.has_so:", "if False:"),
    am_tx("ranges may overlap", "return block.first > before.last", "return block.first > before.first"),
    am_tx(
        "a range may not begin in the SDU where the block before ended",
        "if block.first == before.last and block.has_so:",
        "if block.first == before.last == block.last and block.has_so:",
    ),
    am_tx(
        "no block may touch the SDU where a range ended",
        "if block.first == before.last and block.has_so:",
        "if block.first == before.last == before.first and block.has_so:",
    ),
    am_tx("octets may overlap", "return block.start > before.end", "return block.start >= before.end"),
    am_tx(
        "a range that reaches ACK_SN costs the STATUS",
        "            if block is None:\n                continue\n            if before is not",
        "            if block is None or self.place(nack.sn) + nack.count > ack:\n                return False\n"
        "            if before is not",
    ),
    am_tx("a range goes on behind ACK_SN", "last = min(first + nack.count, ack) - 1", "last = first + nack.count - 1"),
    am_tx(
        "SOend of a trimmed range is that of the SDU before ACK_SN",
        "nack.so_end if nack.so_end is not None and last == first + nack.count - 1 else",
        "nack.so_end if nack.so_end is not None else",
    ),
    am_tx("a NACK at ACK_SN costs the STATUS", "if first > last or last < 0:", "if last < 0:"),
    am_tx(
        "NACKs below the window are wrong",
        "return above if above < self.window_size else above - self.modulus",
        "return above",
    ),
    am_tx(
        "SOstart of a range that begins below the window counts",
        "and first >= 0 else 0",
        "else 0",
    ),
    am_tx(
        "SOend of a range is that of its first SDU",
        "block.end if offset == block.last",
        "block.end if offset == block.first",
    ),
    am_tx("SOstart is not looked at", "if begins_here and first is not None and block", "if False and block"),
    am_tx("SOend is not looked at", "or block.end < len(last.data)", "or True"),
    am_tx(
        "octets never sent may be sent again",
        "range(start, min(end + 1, sdu.sent))",
        "range(start, min(end + 1, len(sdu.data)))",
    ),
    am_tx("a half sent SDU may be acknowledged", "return not acknowledges_unsent or", "return True or"),
    am_tx("a NACK of octets never sent counts", "if not any(runs):\n            return", ""),
    am_tx("RETX_COUNT grows while octets are pending", "or sn not in self.pending", "or True"),
    am_tx("RETX_COUNT begins with 1", "0 if sdu.retx_count is None", "1 if sdu.retx_count is None"),
    am_tx("maxRetxThreshold is reported again", "sdu.retx_count == self.config", "sdu.retx_count >= self.config"),
    am_tx(
        "a NACK takes the place of the one before",
        "octets = self.pending.setdefault(sn, set())",
        "octets = self.pending[sn] = set()",
    ),
    am_tx("octets stay pending after the ACK", "self.pending.pop(sn, None)", "pass"),
    am_tx(
        "a poll is repeated only if nothing is to be sent",
        "        self.poll_wanted = True",
        "            self.poll_wanted = True",
    ),
    am_tx(
        "t-PollRetransmit always sends an SDU again",
        "if self.unacked and (self.both_buffers_empty() or self.window_stalled()):",
        "if self.unacked:",
    ),
    am_tx(
        "t-PollRetransmit sends the lowest SDU again",
        "max(self.unacked, key=self.above)",
        "min(self.unacked, key=self.above)",
    ),
    wall("a stalled window sends nothing again", "or self.window_stalled()):", "):"),
)
RECEIVING = (
    am_rx("a poll in a discarded PDU does not count", "self.status_triggered |= pdu.poll", "pass"),
    am_rx(
        "polls are answered at once",
        "< self.above(self.rx_highest_status) or",
        "< self.above(self.rx_highest_status) or True or",
    ),
    am_rx("one delayed poll is remembered", "self.delayed_polls.add(pdu.sn)", "self.delayed_polls = {pdu.sn}"),
    am_rx(
        "a STATUS forgets delayed polls",
        "        self.status_triggered = False\n        self.t_st",
        "        self.status_triggered = False\n        self.delayed_polls.clear()\n        self.t_st",
    ),
    am_rx(
        "the poll is looked at before the state changes",
        "            self.delayed_polls.add(pdu.sn)\n        self.look_at_polls()",
        "            self.delayed_polls.add(pdu.sn)",
    ),
    am_rx("SDUs beyond 65535 octets are stored", "or not possible(pdu)", ""),
    am_rx("the window is one wider", "if self.above(pdu.sn) >= self.window", "if self.above(pdu.sn) > self.window"),
    am_rx("contradicting segments are stored", "partial.contradicted_by(pdu) or", ""),
    am_rx("RX_Highest_Status waits for the timer", "if sn == self.rx_highest_status:", "if False:"),
    am_rx(
        "t-Reassembly ends only at RX_Next",
        "if trigger == self.plus(self.rx_next, 1) and not self.has_gap(self.rx_next):",
        "if False:",
    ),
    am_rx("t-Reassembly ends in spite of a gap", "and not self.has_gap(self.rx_next)", ""),
    am_rx(
        "t-Reassembly ends at the upper edge",
        "return self.above(trigger) > self.w",
        "return self.above(trigger) >= self.w",
    ),
    am_rx("t-Reassembly goes on behind the window", "return self.above(trigger) > self.window_size", "return False"),
    am_rx("t-Reassembly takes no notice of gaps", "or (distance == 1 and self.has_gap(sn))", ""),
    am_rx(
        "RX_Highest_Status stays at the trigger",
        "self.first_missing(self.rx_next_status_trigger)",
        "self.rx_next_status_trigger",
    ),
    am_rx(
        "t-Reassembly does not start again",
        "        if self.something_missing_from(self.rx_highest_status):\n            self.start_reassembly(now)\n",
        "",
    ),
    am_rx(
        "t-Reassembly triggers no STATUS",
        "        self.status_triggered = True\n        self.look",
        "        self.look",
    ),
    am_rx(
        "STATUS is not prohibited", "self.status_triggered and self.t_status_prohibit is None", "self.status_triggered"
    ),
    am_rx(
        "a cut STATUS acknowledges the SDU cut off",
        "return Status(cut.sn, tuple(nacks))",
        "return Status(self.plus(cut.sn, 1), tuple(nacks))",
    ),
    am_rx(
        "a cut STATUS stays at a partly reported SDU",
        "return Status(self.first_missing(self.plus(cut.sn, 1)), tuple(nacks))",
        "return Status(cut.sn, tuple(nacks))",
    ),
    am_rx(
        "a cut STATUS passes the SDU after a partly reported one",
        "self.first_missing(self.plus(cut.sn, 1))",
        "self.rx_highest_status",
    ),
    am_rx(
        "a STATUS cut between two holes acknowledges the holes that did not fit",
        "nacks[-1] = replace(nacks[-1], so_end=TO_THE_END)",
        "pass",
    ),
    am_rx("two SDUs are no range", "count if count > 1 else None", "count if count > 2 else None"),
    am_rx("ranges end at 254", "while count < MAX_RANGE", "while count < MAX_RANGE - 1"),
    segments("a missing tail is a gap", "len(self.octets) != max(self.octets) + 1", "not self.complete()"),
    segments("new octets win", "self.octets.setdefault(pdu.so + index, octet)", "self.octets[pdu.so + index] = octet"),
    segments(
        "octets beyond the claimed end stay",
        "return pdu.ends and any(offset > last for offset in self.octets)",
        "return False",
    ),
)
UM = (
    um("complete SDUs use an SN", "if self.uses_sn(so):", "if True:"),
    um("a half sent SDU may be discarded", "and not (index == 0 and self.sent)", ""),
    um("delivered SDUs are forgotten", "or self.was_delivered(pdu.sn)", ""),
    um(
        "the window is one wider",
        "return self.above(sn) >= self.window_size",
        "return self.above(sn) > self.window_size",
    ),
    um("old segments are stored", "self.above(pdu.sn) < self.above(self.rx_next_reassembly) or", ""),
    um(
        "segments outside the window stay", "if not self.outside(key)}\n            self.del", "}\n            self.del"
    ),
    um(
        "delivered SDUs are counted again when the window moves",
        "_next_reassembly = self.first_undelivered(\n",
        "_next_reassembly = (\n",
    ),
    um("RX_Next_Reassembly stays behind the window", "if self.outside(self.rx_next_reassembly):", "if False:"),
    um("t-Reassembly ends one later", "if self.above(trigger) <= self", "if self.above(trigger) < self"),
    um("t-Reassembly ends in spite of a gap", "== 1 and not self.has_gap(self.rx_next_reassembly)", "== 1"),
    um(
        "t-Reassembly ends at its trigger only",
        "return self.distance() == 1 and not self.has_gap(self.rx_next_reassembly)",
        "return False",
    ),
    um(
        "t-Reassembly takes no notice of gaps",
        "or (self.distance() == 1 and self.has_gap(self.rx_next_reassembly))",
        "",
    ),
    um(
        "t-Reassembly passes no delivered SDU", "self.first_undelivered(self.rx_timer_trigger)", "self.rx_timer_trigger"
    ),
    um("segments stay when their time is over", "if self.above(key) >= edge}", "}"),
    um(
        "t-Reassembly does not start again",
        "if self.above(key) >= edge}\n        self.start_reassembly_if_needed()",
        "if self.above(key) >= edge}",
    ),
)
WRONG_RULES = SENDING + STATUS_RECEIVED + RECEIVING + UM
