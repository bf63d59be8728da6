"""Attackers who own their addresses: they answer cookies as a host does, frame by frame, from addresses that no kernel
of the bed has. What they do between the guard's answer and their own is the test's."""

from __future__ import annotations

import time
from collections.abc import Callable

from bed import SERVER_IPV4, WEB_PORT, Bed
from segments import ACK, RST, SYN, Segment, option_octets, read, write
from tcp_frames import Macs
from wire import Wire

BATCH = 64
WAIT_S = 0.5


def address(number: int) -> str:
    """Of the networks for benchmarks (RFC 2544)."""
    return f"198.{18 + (number >> 16 & 1)}.{number >> 8 & 255}.{number & 255}"


class Provers:
    def __init__(self, bed: Bed, port: int = WEB_PORT, own_port: int = 5000):
        self.wire, self.macs = Wire(bed.client, "cl0"), Macs.of(bed).octets
        self.port, self.own_port = port, own_port

    def __enter__(self) -> Provers:
        return self

    def __exit__(self, *_):
        self.wire.close()

    def frame(self, number: int, flags: int, **rest) -> bytes:
        return write(address(number), self.own_port, SERVER_IPV4, self.port, flags, macs=self.macs, **rest)

    def ask(self, numbers: list[int]) -> dict[int, Segment]:
        """SYNs, a batch at a time; the SYN-ACKs that came for them."""
        answers = {}
        of = {address(number): number for number in numbers}
        options = option_octets(mss=1460, scale=7, sack=True, stamps=(1, 0))
        for begin in range(0, len(numbers), BATCH):
            batch = numbers[begin : begin + BATCH]
            for number in batch:
                self.wire.send(self.frame(number, SYN, sequence=number, options=options))
            end = time.monotonic() + WAIT_S
            missing = set(batch)
            while missing and (left := end - time.monotonic()) > 0:
                for frame in self.wire.frames(left, lambda frame: self._is_answer(frame)):
                    one = read(0, frame)
                    if one and one.has(SYN | ACK) and one.destination[0] in of:
                        number = of[one.destination[0]]
                        answers[number] = one
                        missing.discard(number)
        return answers

    def _is_answer(self, frame: bytes) -> bool:
        one = read(0, frame)
        return one is not None and one.has(SYN | ACK) and one.destination[1] == self.own_port

    def prove(self, answers: dict[int, Segment], mode: str, off_by: int = 0) -> None:
        """What a host answers: a RST to the bad acknowledgment, or the ACK. `off_by` spoils it."""
        for count, (number, answer) in enumerate(answers.items(), 1):
            if mode == "auth":
                self.wire.send(self.frame(number, RST, sequence=answer.acknowledgment + off_by, window=0))
            else:
                stamps = answer.options.timestamps
                options = b"\1\1" + option_octets(stamps=(2, stamps[0]))[:10] if stamps else b""
                numbers = {"sequence": number + 1, "acknowledgment": answer.sequence + 1 + off_by}
                self.wire.send(self.frame(number, ACK, **numbers, options=options))
            if count % BATCH == 0:
                time.sleep(0.002)

    def asked_and_proven(self, numbers: list[int], mode: str, between: Callable[[], None] = lambda: None) -> int:
        """How many had an answer, and sent their proof after `between`."""
        answers = self.ask(numbers)
        between()
        self.prove(answers, mode)
        time.sleep(0.2)
        return len(answers)
