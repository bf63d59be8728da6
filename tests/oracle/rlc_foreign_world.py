"""Runs our RLC AM entity (rlc_tool) against the foreign peer over a link that loses, repeats and reorders.

One run is one seed. It ends well when every SDU arrived once and is acknowledged; `Illegal` says what else happened.
As a program: `rlc_foreign_world.py TOOL --runs 500 --way ours|theirs|both [--first SEED] [--trace FILE]`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

from rlc_foreign_judge import DataJudge, judge_report
from rlc_foreign_pdu import Illegal, Report, is_report, nearest, read_report, unwrapped
from rlc_foreign_plan import Link, Plan, Tool
from rlc_foreign_receiver import AM_WINDOW, Receiver
from rlc_foreign_report import Habits, Writer
from rlc_foreign_sender import Sender, SenderHabits

WAYS = ("ours", "theirs", "both")  # who sends
MAX_QUEUED = 4000
MAX_RETX = 32


class Hang(Illegal):
    """No progress although both sides had time, grants and a link."""


class RadioLinkFailure(Illegal):
    """One side gave up although the link carried most of what was sent."""


class Run:
    """`deaf` takes STATUS PDUs away from our entity: proof that a hang is noticed (test_rlc_foreign.py).

    Without `judged` only the end counts: everything arrives, or the run hangs, or a side gives up.
    """

    def __init__(
        self, tool: Tool, seed: str, way: str, judged: bool = True, deaf: Callable[[Report], bool] | None = None
    ) -> None:
        self.tool, self.way, self.judged, self.deaf = tool, way, judged, deaf
        self.rng = rng = random.Random(f"{seed}/{way}")
        self.plan = plan = Plan.drawn(rng)
        self.to_theirs, self.to_ours = (
            Link(
                rng,
                loss=rng.choice((0.0, rng.uniform(0, 0.25), rng.uniform(0.1, 0.25), rng.uniform(0.2, 0.25))),
                burst=rng.choice((0, 1, 2, 4)),
                repeat=rng.choice((0.0, 0.03, 0.1)),
                delay=plan.delay,
                spread=plan.spread,
            )
            for _ in range(2)
        )
        self.writer = Writer(plan.bits, Habits.drawn(rng), rng)
        self.sender = Sender(plan.bits, self.sender_habits(), rng, plan.start)
        self.receiver = Receiver(plan.bits, plan.t_reassembly, plan.t_prohibit, self.writer, plan.start)
        self.receiver.at_once = rng.random() < 0.3
        # Gets what our receiver gets, and so knows what our STATUS PDUs may say.
        self.shadow = Receiver(plan.bits, plan.t_reassembly, plan.t_prohibit, None, plan.start)
        self.judge = DataJudge(plan.bits, plan.poll_pdu, plan.poll_byte, plan.start)
        self.to_offer = {
            way: [self.made_up() for _ in range(plan.sdus)] for way in WAYS[:2] if self.way in (way, "both")
        }
        self.theirs_offered: list[bytes] = []
        self.delivered: dict[str, set[int]] = {"ours": set(), "theirs": set()}  # SNs, by who sent them
        self.next_ack = plan.start  # TX_Next_Ack of our sender, from what the foreign reports say
        self.acked: set[int] = set()
        self.acked_events: list[int] = []
        self.last_report = -plan.t_prohibit
        self.counts: Counter[str] = Counter()
        self.now = 0
        tool.lines.clear()
        keys = {
            "sn_bits": plan.bits,
            "max_retx": MAX_RETX,
            "poll_pdu": plan.poll_pdu,
            "poll_byte": plan.poll_byte,
            "t_poll_retransmit": plan.t_poll,
            "t_reassembly": plan.t_reassembly,
            "t_status_prohibit": plan.t_prohibit,
            "max_queued": MAX_QUEUED,
        }
        self.ask("new o am " + " ".join(f"{key}={value}" for key, value in keys.items()))
        if plan.start:
            self.ask(f"seed o {plan.start}")

    def sender_habits(self) -> SenderHabits:
        rng = self.rng
        return SenderHabits(
            poll_pdu=self.plan.poll_pdu,
            poll_byte=self.plan.poll_byte,
            t_poll=self.plan.t_poll,
            max_retx=MAX_RETX,
            odd_poll=rng.choice((0.0, 0.0, 0.05, 0.3)),
            odd_cut=rng.choice((0.0, 0.1, 0.5)),
            whole_again=rng.choice((0.0, 0.0, 0.3)),
            any_on_expiry=rng.choice((0.0, 0.5)),
            frees_parts=rng.random() < 0.7,
        )

    def made_up(self) -> bytes:
        return self.rng.randbytes(self.rng.randint(*self.plan.sizes))

    def ask(self, line: str) -> dict:
        answer = self.tool.ask(line)
        self.state = answer["state"]
        self.acked_events += answer["events"]["acked"]
        if answer["events"]["max_retx"]:
            raise RadioLinkFailure(f"ours gave up SDU {answer['events']['max_retx']}")
        return answer

    def wire(self, sn: int) -> int:
        return sn % (1 << self.plan.bits)

    def middle(self, base: int) -> int:
        """Near which every SN lies that a report may name, late ones too."""
        return base + AM_WINDOW[self.plan.bits] // 2

    def go(self) -> None:
        try:
            progress, since = None, 0
            while not self.finished():
                self.tick()
                reached = (
                    len(self.delivered["ours"]),
                    len(self.delivered["theirs"]),
                    self.next_ack,
                    self.sender.tx_next_ack,
                )
                if reached != progress:
                    progress, since = reached, self.now
                if self.now - since > self.plan.patience:
                    raise Hang(f"nothing moved for {self.now - since} ms: {self.state}")
            if len(set(self.acked_events)) != len(self.acked_events):
                raise Illegal("an SDU was acknowledged twice to the upper layer")
        except Illegal as wrong:
            wrong.args = (f"{self.now} ms: {wrong} ({self.plan})",)
            raise

    def finished(self) -> bool:
        if any(self.to_offer.values()) or not self.sender.idle():
            return False
        offered = {"ours": len(self.judge.offered), "theirs": len(self.theirs_offered)}
        if self.next_ack < self.plan.start + offered["ours"]:
            return False
        if self.judged and len(self.acked_events) != offered["ours"]:
            raise Illegal(f"{len(self.acked_events)} SDUs released, {offered['ours']} acknowledged")
        return all(len(self.delivered[way]) == offered[way] for way in offered)

    def tick(self) -> None:
        self.now += 1
        self.offer()
        for link in (self.to_theirs, self.to_ours):
            link.tick()
        for side in (self.sender, self.receiver, self.shadow):
            side.tick(self.now)
        self.ask(f"tick o {self.now}")
        for pdu in self.to_theirs.due(self.now):
            self.theirs_gets(pdu)
        for pdu in self.to_ours.due(self.now):
            self.ours_gets(pdu)
        for name in ("rx_next", "rx_next_highest", "rx_highest_status") if self.judged else ():
            expected = self.wire(getattr(self.shadow, name))
            if self.state[name] != expected:
                raise Illegal(f"{name} of ours is {self.state[name]}, not {expected}")
        for _ in range(self.plan.grants_a_tick):
            self.grant_ours()
            self.grant_theirs()
        if self.sender.failed:
            raise RadioLinkFailure("theirs gave up: ours reported an SDU missing too often, or no poll was answered")

    def offer(self) -> None:
        for _ in range(self.plan.offered_a_tick):
            if self.to_offer.get("ours"):
                sdu = self.to_offer["ours"].pop()
                self.judge.offered.append(sdu)
                if not self.ask(f"send o {sdu.hex()}")["accepted"]:
                    raise Illegal("ours refused an SDU although its queue has room")
            if self.to_offer.get("theirs"):
                self.theirs_offered.append(self.to_offer["theirs"].pop())
                self.sender.offer(self.theirs_offered[-1])

    def grant_ours(self) -> None:
        reports = self.state["status_triggered"] and self.state["t_status_prohibit"] is None
        grant = self.rng.randint(*(self.plan.report_grants if reports else self.plan.grants))
        answer = self.ask(f"pull o {grant}")
        if answer["pdu"] is None:
            return
        pdu = bytes.fromhex(answer["pdu"])
        if is_report(pdu):
            self.counts["STATUS of ours"] += 1
            self.judge_ours(pdu, grant)
        else:
            self.counts["data PDUs of ours"] += 1
            self.judge.take(pdu, grant, self.next_ack, bool(self.state["pending_retx"]))
        self.to_theirs.put(pdu, self.now)

    def judge_ours(self, pdu: bytes, grant: int) -> None:
        if len(pdu) > grant:
            raise Illegal(f"a STATUS of {len(pdu)} octets for a grant of {grant}")
        if self.now - self.last_report < self.plan.t_prohibit:
            raise Illegal(f"a STATUS {self.now - self.last_report} ms after the last one")
        self.last_report = self.now
        report = unwrapped(read_report(self.plan.bits, pdu), self.middle(self.shadow.rx_next), self.plan.bits)
        start = self.plan.start
        sent = {sn: len(self.theirs_offered[sn - start]) for sn in range(self.shadow.rx_next, self.sender.tx_next)}
        if not self.judged:
            return
        try:
            judge_report(report, self.shadow, sent, ours=True)
        except Illegal as wrong:
            raise Illegal(f"STATUS of ours {pdu.hex(' ')} in {grant} octets: {wrong}") from wrong

    def grant_theirs(self) -> None:
        if self.receiver.wants_report():
            pdu = self.receiver.report(self.rng.randint(*self.plan.report_grants), self.now)
            if pdu is not None:
                report = unwrapped(read_report(self.plan.bits, pdu), self.middle(self.receiver.rx_next), self.plan.bits)
                judge_report(report, self.receiver, self.judge.lengths(), ours=False)
        else:
            pdu = self.sender.pull(self.rng.randint(*self.plan.grants), self.now)
            self.counts["data PDUs of theirs"] += pdu is not None
        if pdu is not None:
            self.to_ours.put(pdu, self.now)

    def theirs_gets(self, pdu: bytes) -> None:
        if is_report(pdu):
            base = self.middle(self.sender.tx_next_ack)
            self.sender.take(unwrapped(read_report(self.plan.bits, pdu), base, self.plan.bits))
        elif (got := self.receiver.take(pdu, self.now)) is not None:
            sn, sdu = got
            if sdu != self.judge.sdu(sn) or sn in self.delivered["ours"]:
                raise Illegal(f"SDU {sn} of ours arrived twice or altered")
            self.delivered["ours"].add(sn)

    def ours_gets(self, pdu: bytes) -> None:
        if is_report(pdu):
            self.ours_gets_report(pdu)
            return
        got = self.shadow.take(pdu, self.now)
        answer = self.ask(f"receive o {pdu.hex()}")
        if answer["delivered"] != ([] if got is None else [got[1].hex()]):
            raise Illegal(
                f"ours delivered {len(answer['delivered'])} SDUs, expected {got and got[0]}: {pdu.hex()[:60]}"
            )
        if got is not None:
            sn, sdu = got
            if sdu != self.theirs_offered[sn - self.plan.start] or sn in self.delivered["theirs"]:
                raise Illegal(f"SDU {sn} of theirs arrived twice or altered")
            self.delivered["theirs"].add(sn)

    def ours_gets_report(self, pdu: bytes) -> None:
        report = unwrapped(read_report(self.plan.bits, pdu), self.middle(self.next_ack), self.plan.bits)
        if self.deaf is not None and self.deaf(report):
            return
        late = report.ack < self.next_ack
        named = {sn: first for nack in reversed(report.nacks) for sn, first, _ in reversed(nack.spans())}
        self.acked |= {sn for sn in range(self.next_ack, report.ack) if sn not in named}
        self.ask(f"receive o {pdu.hex()}")
        tx_next_ack = nearest(self.state["tx_next_ack"], self.middle(self.next_ack), self.plan.bits)
        expected = next(sn for sn in count(self.next_ack) if sn not in self.acked)
        if self.judged and tx_next_ack != expected:
            raise Illegal(f"after {pdu.hex(' ')} TX_Next_Ack is {tx_next_ack}, not {expected}")
        self.next_ack = tx_next_ack
        again = [
            sn
            for sn, first in named.items()
            if sn < report.ack and sn not in self.acked and first < self.judge.sent.get(sn, 0)
        ]
        if self.judged and again and not late and not self.state["pending_retx"]:
            raise Illegal(f"after {pdu.hex(' ')} nothing is to be retransmitted, not even {again[0]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", type=Path)
    parser.add_argument("--runs", type=int, default=100, help="of each way")
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument(
        "--trace", type=Path, help="a folder for the lines of each run that fails, as rlc_tool reads them"
    )
    parser.add_argument("--only-the-end", action="store_true", help="judge by hangs and radio link failures alone")
    parser.add_argument("--shown", type=int, default=5, help="failures told of each way")
    args = parser.parse_args()
    failed = 0
    for way in args.way or WAYS:
        tally: Counter[str] = Counter()
        for seed in range(args.first, args.first + args.runs):
            tool = Tool(args.tool)
            tool.keep = args.trace is not None
            run = None
            try:
                run = Run(tool, str(seed), way, judged=not args.only_the_end)
                run.go()
            except Illegal as wrong:
                kind = type(wrong).__name__
                tally[kind] += 1
                if tally[kind] <= args.shown:
                    print(f"{way}, seed {seed}: {kind}: {wrong}")
                if args.trace is not None:
                    args.trace.mkdir(parents=True, exist_ok=True)
                    (args.trace / f"{way}_{seed}.txt").write_text("\n".join(tool.lines) + "\n")
            finally:
                tool.close()
            if run is not None:
                tally.update(run.counts)
                tally.update({f"STATUS of theirs, {form}": n for form, n in run.writer.forms.items()})
        wrong = sum(tally[kind] for kind in ("Illegal", "Hang", "RadioLinkFailure"))
        failed += wrong
        kinds = (
            f"{tally['Hang']} hang, {tally['RadioLinkFailure']} radio link failure, {tally['Illegal']} anything else"
        )
        print(f"{way}: {args.runs} runs, {wrong} failed ({kinds})")
        for name, number in sorted(tally.items()):
            if name[0].islower() or name.startswith("STATUS"):
                print(f"  {number:8} {name}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
