"""The judge of octets: reads what passed on both sides of a guard and holds it against the RFCs.

It knows nothing of how the guard is made. It sees four ways: from the client (before the guard), to the server (behind
it), from the server, to the client. What passes unchanged is the ends' own business. What does not must have a cause:

- to the client: a SYN-ACK by one SYN, not longer than it (no amplification); a RST by the server's RST; any other
  segment by one of the server's, or, once, by its SYN-ACK (the window opens). Nothing else: no reply to a reply.
- to the server: a SYN by an ACK of the client that returned what a SYN-ACK told it, with the client's own sequence
  number; an ACK by the server's SYN-ACK; any other segment by one of the client's.

And each end must see one sound TCP peer (RFC 9293, 7323, 2018, 3168): checksums; acknowledgment and SACK only of what
it sent; echoes only of time stamps that it sent; time stamps that do not run back; options only as agreed; the other
end's octets, all of them; and a window never beyond what the other end offered. The IP header of a translated segment
stays as it was.

Run alone: python tests/guard/tcp_judge.py CLIENT.pcap SERVER.pcap ADDRESS:PORT [--armed-auth]
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from segments import ACK, CWR, ECE, FIN, MODULUS, PSH, RST, SYN, Segment, at_most, less, segments

End = tuple[str, int]
FROM_CLIENT, TO_SERVER, FROM_SERVER, TO_CLIENT = "from client", "to server", "from server", "to client"
MOST_SAID = 20
OVERTAKEN_US = 1000  # what left one core may pass what left another before it: the kernel's queues, not the guard's
OVERTAKEN_TICKS = 2  # of the sender's clock of time stamps, which Linux counts in ms
DEFAULT_MSS = {4: 536, 6: 1220}  # RFC 9293 3.7.1


@dataclass
class Verdict:
    """What was wrong, one sentence each, and how much was looked at."""

    wrong: list[str] = field(default_factory=list)
    seen: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.seen.items()))
        more = f" and {len(self.wrong) - MOST_SAID} more" if len(self.wrong) > MOST_SAID else ""
        return f"{counts}; {len(self.wrong)} wrong" + "".join(f"\n  {one}" for one in self.wrong[:MOST_SAID]) + more


@dataclass
class Told:
    """A SYN-ACK that the guard made, and the SYN that caused it."""

    syn: Segment
    answer: Segment


class Connection:
    """All segments between one client port and one server port, judged in the order in which they passed."""

    def __init__(self, verdict: Verdict, proofs: Proofs, armed_auth: bool):
        self.verdict, self.proofs, self.armed_auth = verdict, proofs, armed_auth
        self.client_syns: list[Segment] = []  # without an answer of the guard so far
        self.all_syns: list[Segment] = []
        self.told: list[Told] = []
        self.passed_to_client: Counter[bytes] = Counter()  # packets of the server on their way
        self.passed_to_server: Counter[bytes] = Counter()
        self.server_waiting: list[Segment] = []  # of the server, not seen on the other side so far
        self.client_waiting: list[Segment] = []
        self.client_acks: list[Segment] = []
        self.server_syn_acks = self.server_rsts = 0
        self.windows_opened = self.acks_made = self.rsts_made = 0
        self.ours: Told | None = None  # the answer with which the client opened the connection
        self.syn_to_server: Segment | None = None
        self.server_syn_ack: Segment | None = None
        self.sent: dict[str, Stream] = {"client": Stream(), "server": Stream()}
        self.got: dict[str, Stream] = {"client": Stream(), "server": Stream()}
        self.stamps: dict[str, set[int]] = {"client": set(), "server": set()}
        self.last_stamp: dict[str, tuple[int, int]] = {}  # that an end was told, and when its cause was sent
        self.offered: int | None = None  # the right edge that the server gave the client so far

    def say(self, what: str, segment: Segment) -> None:
        self.verdict.wrong.append(f"{what}: {segment} at {segment.time_us} us")

    # -- what the ends sent

    def from_client(self, one: Segment) -> None:
        self.passed_to_server[one.packet] += 1
        self.client_waiting.append(one)
        if one.has(SYN) and not one.flags & (ACK | RST | FIN):
            self.client_syns.append(one)
            self.all_syns.append(one)
        elif one.has(ACK) and not one.flags & (SYN | RST):
            self.client_acks.append(one)
        elif one.has(RST):
            self.proofs.returned(one)
        if one.options.timestamps:
            self.stamps["client"].add(one.options.timestamps[0])
        self.sent["client"].take(one)

    def from_server(self, one: Segment) -> None:
        self.passed_to_client[one.packet] += 1
        self.server_waiting.append(one)
        if one.has(SYN | ACK):
            self.server_syn_acks += 1
            self.server_syn_ack = one
        elif one.has(RST):
            self.server_rsts += 1
        if one.has(ACK) and not one.flags & (SYN | RST):
            self.proofs.vouched(one)
        if one.options.timestamps:
            self.stamps["server"].add(one.options.timestamps[0])
        self.sent["server"].take(one)
        if one.has(ACK) and not one.has(RST):
            edge = (one.acknowledgment + (one.window << self._server_scale(one))) % MODULUS
            if self.offered is None or less(self.offered, edge):
                self.offered = edge

    def _server_scale(self, one: Segment) -> int:
        syn_ack, syn = self.server_syn_ack, self.syn_to_server
        if one.has(SYN) or not syn_ack or not syn or syn.options.scale is None:
            return 0
        return syn_ack.options.scale or 0

    # -- what reached the ends

    def to_client(self, one: Segment) -> None:
        self._sound(one)
        if self.passed_to_client[one.packet] > 0:
            self.passed_to_client[one.packet] -= 1
            self.server_waiting = [each for each in self.server_waiting if each.packet != one.packet]
            self.verdict.seen["passed to the client"] += 1
            return
        if one.has(SYN | ACK):
            self._challenge(one)
        elif one.has(RST):
            self.rsts_made += 1
            self.verdict.seen["RSTs told to the client"] += 1
            if self.rsts_made > self.server_rsts:
                self.say("a RST to the client that the server did not send", one)
        elif one.has(ACK):
            self._translated_to_client(one)
        else:
            self.say("a segment to the client without a cause", one)

    def _challenge(self, one: Segment) -> None:
        syn = next((each for each in self.client_syns if one.acknowledgment == (each.sequence + 1) % MODULUS), None)
        cookie_in_sequence = syn is not None
        if syn is None and self.client_syns:
            syn = self.client_syns[0]
        if syn is None:
            self.say("a SYN-ACK without a SYN", one)
            return
        self.client_syns.remove(syn)
        self.client_waiting = [each for each in self.client_waiting if each is not syn]
        self.told.append(Told(syn, one))
        if len(one.packet) > len(syn.packet):
            self.say(f"a SYN-ACK longer than its SYN of {len(syn.packet)} octets", one)
        if one.payload:
            self.say("a SYN-ACK with payload", one)
        if one.ecn:
            self.say("a SYN-ACK with an ECN field (RFC 3168 6.1.1)", one)
        if one.vlan != syn.vlan:
            self.say(f"a SYN-ACK in VLAN {one.vlan}, its SYN was in {syn.vlan}", one)
        if one.flags & ~(SYN | ACK | ECE):
            self.say("a SYN-ACK with more flags", one)
        if one.has(ECE) and not syn.has(ECE | CWR):
            self.say("a SYN-ACK with ECE, the SYN did not ask for ECN (RFC 3168 6.1.1)", one)
        if not cookie_in_sequence:
            self.verdict.seen["challenges by acknowledgment"] += 1
            self.proofs.challenged(one)
            return
        self.verdict.seen["challenges by sequence"] += 1
        mine, its = one.options, syn.options
        if not mine.sound:
            self.say("options that cannot be read", one)
        if one.window:
            self.say("a SYN-ACK that opens the window before the server did", one)
        if mine.timestamps and not its.timestamps:
            self.say("timestamps that the SYN had not (RFC 7323 3.2)", one)
        if mine.timestamps and its.timestamps and mine.timestamps[1] != its.timestamps[0]:
            self.say("TSecr is not the TSval of the SYN (RFC 7323 3.2)", one)
        if mine.scale is not None and its.scale is None:
            self.say("a window scale, the SYN had none (RFC 7323 2.2)", one)
        if mine.sack_permitted and not its.sack_permitted:
            self.say("SACK-permitted, the SYN had none (RFC 2018 2)", one)
        if mine.timestamps:
            self.last_stamp["client"] = (mine.timestamps[0], one.time_us)

    def _translated_to_client(self, one: Segment) -> None:
        """Of a segment of the server with the same acknowledgment, flags and length; or the window that opens."""
        like = [
            waiting
            for waiting in self.server_waiting
            if waiting.payload == one.payload
            and (waiting.flags ^ one.flags) & ~PSH == 0
            and waiting.acknowledgment == one.acknowledgment
            and self._at_client(waiting.sequence, one)
        ]
        if like:
            sent_us = self._pair(self.server_waiting, like, one)
            self.verdict.seen["translated to the client"] += 1
        else:
            sent_us = self._cause_of_made(one)
            opens = not one.payload and one.flags == ACK and self.windows_opened < self.server_syn_acks
            if not opens or not self.ours or one.sequence != (self.ours.answer.sequence + 1) % MODULUS:
                self.say("a segment to the client that the server did not send", one)
                return
            self.windows_opened += 1
            self.verdict.seen["windows opened"] += 1
        self._seen_by("client", one, sent_us)
        if self.offered is not None and self.ours:
            scale = self.ours.answer.options.scale if self.ours.syn.options.scale is not None else None
            edge = (one.acknowledgment + (one.window << (scale or 0))) % MODULUS
            if less(self.offered, edge):
                beyond = (edge - self.offered) % MODULUS
                self.say(f"a window that ends {beyond} octets beyond what the server offered", one)

    def _at_client(self, sequence: int, one: Segment) -> bool:
        """Whether the server's `sequence` is what the segment to the client has, moved as the first numbers are."""
        if not self.ours or not self.server_syn_ack:
            return False
        delta = self.ours.answer.sequence - self.server_syn_ack.sequence
        return (sequence + delta) % MODULUS == one.sequence

    def _at_server(self, acknowledgment: int, one: Segment) -> bool:
        """The same of what the client acknowledges. A segment with a cookie may come behind the server's SYN-ACK."""
        if not self.ours or not self.server_syn_ack:
            return False
        delta = self.ours.answer.sequence - self.server_syn_ack.sequence
        return (acknowledgment - delta) % MODULUS == one.acknowledgment

    def to_server(self, one: Segment) -> None:
        self._sound(one)
        if self.passed_to_server[one.packet] > 0:
            self.passed_to_server[one.packet] -= 1
            self.client_waiting = [each for each in self.client_waiting if each.packet != one.packet]
            self.verdict.seen["passed to the server"] += 1
            if one.has(SYN) and self.armed_auth and not self.proofs.of(one.source[0], one.time_us):
                self.say("a SYN of a source that had not proven itself", one)
            return
        if one.has(SYN) and not one.has(ACK):
            self._connects(one)
        elif one.has(ACK) and not one.flags & (SYN | RST):
            self._translated_to_server(one)
        elif one.has(RST) and any(each.has(RST) for each in self.client_waiting):
            self.verdict.seen["translated to the server"] += 1
            self.client_waiting.remove(next(each for each in self.client_waiting if each.has(RST)))
        else:
            self.say("a segment to the server without a cause", one)

    def _connects(self, one: Segment) -> None:
        told = next(
            (
                each
                for each in reversed(self.told)
                if each.syn.sequence == one.sequence
                and any(ack.acknowledgment == (each.answer.sequence + 1) % MODULUS for ack in self.client_acks)
            ),
            None,
        )
        if told is None:
            self.say("a SYN to the server without an ACK that returned the cookie", one)
            return
        again = self.syn_to_server is not None and self.syn_to_server.sequence == one.sequence
        self.verdict.seen["SYNs again to the server" if again else "connections opened"] += 1
        self.ours, self.syn_to_server = told, one
        self.client_waiting = [each for each in self.client_waiting if not (each.has(ACK) and not each.payload)]
        mine, its, answer = one.options, told.syn.options, told.answer.options
        version = 6 if ":" in one.source[0] else 4
        if not mine.sound:
            self.say("options that cannot be read", one)
        if (mine.mss or DEFAULT_MSS[version]) > (its.mss or DEFAULT_MSS[version]):
            self.say(f"MSS {mine.mss}, the client said {its.mss} (RFC 9293 3.7.1)", one)
        for what, opened, told_client in (
            ("timestamps", mine.timestamps is not None, answer.timestamps is not None),
            ("a window scale", mine.scale is not None, answer.scale is not None),
            ("SACK-permitted", mine.sack_permitted, answer.sack_permitted),
        ):
            if opened != told_client:
                self.say(f"{what}: {opened} to the server, {told_client} to the client", one)
        if mine.scale is not None and mine.scale != its.scale:
            self.say(f"window scale {mine.scale}, the client said {its.scale}", one)
        if mine.timestamps and mine.timestamps[0] not in self.stamps["client"]:
            self.say("a TSval that the client did not send", one)
        if one.has(ECE | CWR) and not told.syn.has(ECE | CWR):
            self.say("asks for ECN, the client did not", one)
        if one.payload:
            self.say("a SYN with payload", one)

    def _translated_to_server(self, one: Segment) -> None:
        like = [
            waiting
            for waiting in self.client_waiting
            if waiting.payload == one.payload
            and (waiting.flags ^ one.flags) & ~PSH == 0
            and waiting.sequence == one.sequence
        ]
        if like:
            # The guard consumes a copy that proved its client; then a later one with the same numbers came through.
            fitting = [each for each in like if self._at_server(each.acknowledgment, one)] or like
            sent_us = self._pair(self.client_waiting, fitting, one)
            self.verdict.seen["translated to the server"] += 1
        else:
            sent_us = self._cause_of_made(one)
            isn = self.syn_to_server.sequence + 1 if self.syn_to_server else None
            made = not one.payload and one.flags & ~(PSH | CWR) == ACK and self.acks_made < self.server_syn_acks
            if not made or isn is None or one.sequence != isn % MODULUS:
                self.say("a segment to the server that the client did not send", one)
                return
            self.acks_made += 1
            self.verdict.seen["handshakes completed"] += 1
        self._seen_by("server", one, sent_us)

    def _cause_of_made(self, one: Segment) -> int:
        """When the cause of what the guard made itself was sent: the server's SYN-ACK."""
        return self.server_syn_ack.time_us if self.server_syn_ack else one.time_us

    def _pair(self, waiting: list[Segment], like: list[Segment], one: Segment) -> int:
        """When the cause was sent.

        Two captures may see two that left different cores at once in different orders: the IP header tells them.
        """
        cause = next((each for each in like if self._has_same_header(each, one)), like[0])
        waiting.remove(cause)
        self._same_header(cause, one)
        return cause.time_us

    @staticmethod
    def _has_same_header(before: Segment, after: Segment) -> bool:
        octets = 40 if ":" in before.source[0] else 20
        return before.packet[:octets] == after.packet[:octets] and before.vlan == after.vlan

    def _same_header(self, before: Segment, after: Segment) -> None:
        if not self._has_same_header(before, after):
            self.say("its IP header or VLAN changed", after)

    # -- what an end sees of the other

    def _sound(self, one: Segment) -> None:
        if not one.ip_sound:
            self.say("a wrong checksum of IP", one)
        if not one.tcp_sound:
            self.say("a wrong checksum of TCP", one)

    def _seen_by(self, end: str, one: Segment, sent_us: int) -> None:
        other = "server" if end == "client" else "client"
        sent = self.sent[end]
        if sent.first is not None and not (
            at_most(sent.first + 1, one.acknowledgment) and at_most(one.acknowledgment, sent.next)
        ):
            self.say(f"acknowledges what the {end} did not send (up to {sent.next})", one)
        for left, right in one.options.sack:
            if sent.first is not None and not (
                less(sent.first, left) and less(left, right) and at_most(right, sent.next)
            ):
                self.say(f"SACK {left}..{right} of what the {end} did not send", one)
        if one.options.timestamps:
            value, echo = one.options.timestamps
            if echo not in self.stamps[end]:
                self.say(f"TSecr {echo} that the {end} did not send", one)
            last, last_sent_us = self.last_stamp.get(end, (value, sent_us))
            overtaken = 0 < last_sent_us - sent_us < OVERTAKEN_US and (last - value) % MODULUS <= OVERTAKEN_TICKS
            if less(value, last) and not overtaken:
                self.say(f"TSval {value} runs back from {last} (RFC 7323 5.3)", one)
            if less(last, value) or not overtaken:
                self.last_stamp[end] = (value, max(sent_us, last_sent_us))
        self.got[other].take(one)

    def end_of_capture(self) -> None:
        """The octets that each end has, against those that the other sent."""
        if not self.ours or not self.server_syn_ack:
            return
        starts = {
            "client": (self.ours.syn.sequence, self.ours.syn.sequence),
            "server": (self.server_syn_ack.sequence, self.ours.answer.sequence),
        }
        told, real = self.ours.answer.options, self.server_syn_ack.options
        if told.mss and real.mss and told.mss > real.mss:
            self.say(f"MSS {told.mss} told to the client, the server's is {real.mss}", self.ours.answer)
        for what, mine, its in (
            ("timestamps", told.timestamps is not None, real.timestamps is not None),
            ("a window scale", told.scale is not None, real.scale is not None),
            ("SACK-permitted", told.sack_permitted, real.sack_permitted),
        ):
            if mine and not its:
                self.say(f"{what} told to the client, the server did not agree", self.ours.answer)
        for who, (sent_isn, got_isn) in starts.items():
            sent, got = self.sent[who].octets_from(sent_isn + 1), self.got[who].octets_from(got_isn + 1)
            self.verdict.seen[f"octets of {who}s"] += len(got)
            if sent[: len(got)] != got:
                at = next((i for i, (a, b) in enumerate(zip(sent, got, strict=False)) if a != b), len(sent))
                self.say(f"octets of the {who} differ from the {at}th of {len(got)} on", self.ours.answer)


class Stream:
    """The octets of one direction, by sequence number, however they were cut and how often they were sent."""

    def __init__(self):
        self.first: int | None = None  # sequence number of the first segment
        self.next = 0  # behind what was sent so far
        self.pieces: dict[int, bytes] = {}

    def take(self, one: Segment) -> None:
        if one.has(RST):
            return
        if self.first is None or one.has(SYN):
            self.first, self.next, self.pieces = one.sequence, one.end, {}
        elif less(self.next, one.end):
            self.next = one.end
        if one.payload and len(self.pieces.get(one.sequence, b"")) < len(one.payload):
            self.pieces[one.sequence] = one.payload

    def octets_from(self, sequence: int) -> bytes:
        """Without a hole."""
        found = bytearray()
        ordered = sorted((((start - sequence) % MODULUS, data) for start, data in self.pieces.items()))
        for start, data in ordered:
            if start > len(found):
                break
            found += data[len(found) - start :] if len(found) < start + len(data) else b""
        return bytes(found)


class Proofs:
    """Which sources returned a cookie of a challenge by acknowledgment, or have a connection."""

    def __init__(self):
        self.cookies: dict[str, set[int]] = defaultdict(set)
        self.when: dict[str, int] = {}

    def challenged(self, answer: Segment) -> None:
        self.cookies[answer.destination[0]].add(answer.acknowledgment)

    def returned(self, rst: Segment) -> None:
        if not rst.has(ACK) and rst.sequence in self.cookies[rst.source[0]]:
            self.when.setdefault(rst.source[0], rst.time_us)

    def vouched(self, one: Segment) -> None:
        self.when.setdefault(one.destination[0], one.time_us)

    def of(self, source: str, time_us: int) -> bool:
        return source in self.when and self.when[source] <= time_us


def judge(
    client_side: list[Segment],
    server_side: list[Segment],
    servers: set[End],
    *,
    armed_auth: bool = False,
    since_us: int = 0,
    until_us: int | None = None,
) -> Verdict:
    """`servers` are the protected ends. `armed_auth`: its guard acted in mode auth all the time. What reaches an end
    before `since_us` or from `until_us` on is not judged: one of the captures may not have begun, or may have ended,
    when its cause passed."""
    verdict, proofs = Verdict(), Proofs()
    connections: dict[tuple[End, End], Connection] = {}
    ways = [(one, FROM_CLIENT if one.destination in servers else TO_CLIENT) for one in client_side]
    ways += [(one, TO_SERVER if one.destination in servers else FROM_SERVER) for one in server_side]
    # At the same microsecond what was sent comes before what was received.
    ways.sort(key=lambda each: (each[0].time_us, each[1] in (TO_SERVER, TO_CLIENT)))
    for one, way in ways:
        ends = (one.source, one.destination) if one.destination in servers else (one.destination, one.source)
        if ends[1] not in servers:
            continue
        outside = one.time_us < since_us or (until_us is not None and one.time_us >= until_us)
        if outside and way in (TO_SERVER, TO_CLIENT):
            continue
        if ends not in connections:
            connections[ends] = Connection(verdict, proofs, armed_auth)
        verdict.seen[f"segments {way}"] += 1
        connection = connections[ends]
        {
            FROM_CLIENT: connection.from_client,
            TO_CLIENT: connection.to_client,
            FROM_SERVER: connection.from_server,
            TO_SERVER: connection.to_server,
        }[way](one)
    for connection in connections.values():
        connection.end_of_capture()
    return verdict


def judge_files(client: Path, server: Path, servers: set[End], **how) -> Verdict:
    from pcap import read

    return judge(segments(read(client)), segments(read(server)), servers, **how)


def main(arguments: list[str]) -> int:
    armed_auth = "--armed-auth" in arguments
    words = [word for word in arguments if not word.startswith("--")]
    if len(words) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))
    servers = {(end.rpartition(":")[0].strip("[]"), int(end.rpartition(":")[2])) for end in words[2:]}
    verdict = judge_files(Path(words[0]), Path(words[1]), servers, armed_auth=armed_auth)
    print(verdict)
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
