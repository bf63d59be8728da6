"""A guard of a few lines, for the tests of the judge: what a right one would put on both wires, and no more.

Each step adds to the two captures and returns the segment; a test changes one of them and asks the judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from segments import ACK, MODULUS, RST, SYN, Segment, option_octets, read, write

CLIENT, SERVER = ("10.77.0.1", 40000), ("10.77.0.2", 8080)
CLIENT_ISN, COOKIE, SERVER_ISN = MODULUS - 3, MODULUS - 1000, 77
CLIENT_SCALE, TOLD_SCALE, SERVER_SCALE = 7, 7, 10
TS_DELTA = 500_000


@dataclass
class Wires:
    """Frames of both sides with their times, in the order in which they passed."""

    client: list[tuple[int, bytes]] = field(default_factory=list)
    server: list[tuple[int, bytes]] = field(default_factory=list)
    now_us: int = 0

    def add(self, side: str, source, destination, flags: int, **rest) -> None:
        self.now_us += 10
        frame = write(*source, *destination, flags, **rest)
        (self.client if side == "client" else self.server).append((self.now_us, frame))

    def segments(self) -> tuple[list[Segment], list[Segment]]:
        return tuple(
            [one for one in (read(*each) for each in side) if one is not None] for side in (self.client, self.server)
        )


def stamps(value: int, echo: int) -> bytes:
    return b"\1\1" + option_octets(stamps=(value, echo))[:10]


def proxied(change: dict[str, dict] | None = None, leave_out: tuple[str, ...] = ()) -> Wires:
    """One connection: the client asks with 3 octets, the server answers with 5. `change` replaces arguments of a step
    by its name; `leave_out` are steps that do not happen."""
    wires, change = Wires(), change or {}

    def step(name: str, side: str, source, destination, flags: int, **rest) -> None:
        if name not in leave_out:
            wires.add(*(side, source, destination), **({"flags": flags} | rest | change.get(name, {})))

    syn = {"mss": 1460, "scale": CLIENT_SCALE, "sack": True}
    step("syn", "client", CLIENT, SERVER, SYN, sequence=CLIENT_ISN, options=option_octets(**syn, stamps=(100, 0)))
    told = option_octets(mss=1460, scale=TOLD_SCALE, sack=True, stamps=(5000 + TS_DELTA, 100))
    first = {"sequence": COOKIE, "acknowledgment": CLIENT_ISN + 1, "window": 0, "options": told}
    step("challenge", "client", SERVER, CLIENT, SYN | ACK, **first)
    proof = {"sequence": CLIENT_ISN + 1, "acknowledgment": COOKIE + 1, "window": 501}
    step("proof", "client", CLIENT, SERVER, ACK, **proof, options=stamps(101, 5000 + TS_DELTA))
    opened = option_octets(**syn, stamps=(101, 0))
    step("syn to server", "server", CLIENT, SERVER, SYN, sequence=CLIENT_ISN, window=64240, options=opened)
    real = option_octets(mss=1460, scale=SERVER_SCALE, sack=True, stamps=(5001, 101))
    second = {"sequence": SERVER_ISN, "acknowledgment": CLIENT_ISN + 1, "window": 65160, "options": real}
    step("syn-ack", "server", SERVER, CLIENT, SYN | ACK, **second)
    isn = {"sequence": CLIENT_ISN + 1, "acknowledgment": SERVER_ISN + 1, "window": 501}
    step("ack to server", "server", CLIENT, SERVER, ACK, **isn, options=stamps(101, 5001))
    update = {"sequence": COOKIE + 1, "acknowledgment": CLIENT_ISN + 1, "window": 65160 >> TOLD_SCALE}
    step("window", "client", SERVER, CLIENT, ACK, **update, options=stamps(5001 + TS_DELTA, 101))
    asked = {"sequence": CLIENT_ISN + 1, "window": 501, "payload": b"ask"}
    step("ask", "client", CLIENT, SERVER, ACK, **asked, acknowledgment=COOKIE + 1, options=stamps(102, 5001 + TS_DELTA))
    step("asked", "server", CLIENT, SERVER, ACK, **asked, acknowledgment=SERVER_ISN + 1, options=stamps(102, 5001))
    reply = {"acknowledgment": CLIENT_ISN + 4, "payload": b"reply"}
    # The server closed its window to 40 units of 1,024 octets: 320 of 128.
    step(
        "answer", "server", SERVER, CLIENT, ACK, sequence=SERVER_ISN + 1, window=40, options=stamps(5003, 102), **reply
    )
    step(
        *("answered", "client", SERVER, CLIENT, ACK),
        **({"sequence": COOKIE + 1, "window": 320, "options": stamps(5003 + TS_DELTA, 102)} | reply),
    )
    last = {"sequence": CLIENT_ISN + 4, "window": 501}
    step("last", "client", CLIENT, SERVER, ACK, **last, acknowledgment=COOKIE + 6, options=stamps(103, 5003 + TS_DELTA))
    step(
        "last to server",
        "server",
        CLIENT,
        SERVER,
        ACK,
        **last,
        acknowledgment=SERVER_ISN + 6,
        options=stamps(103, 5003),
    )
    return wires


def authorized(change: dict[str, dict] | None = None, leave_out: tuple[str, ...] = ()) -> Wires:
    """A source proves itself by its RST; its next SYN passes, and the server's SYN-ACK does."""
    wires, change = Wires(), change or {}

    def step(name: str, side: str, source, destination, flags: int, **rest) -> None:
        if name not in leave_out:
            wires.add(*(side, source, destination), **({"flags": flags} | rest | change.get(name, {})))

    step("syn", "client", CLIENT, SERVER, SYN, sequence=CLIENT_ISN)
    step("challenge", "client", SERVER, CLIENT, SYN | ACK, sequence=0, acknowledgment=COOKIE, window=0)
    step("proof", "client", CLIENT, SERVER, RST, sequence=COOKIE, window=0)
    step("syn again", "client", CLIENT, SERVER, SYN, sequence=CLIENT_ISN)
    step("syn to server", "server", CLIENT, SERVER, SYN, sequence=CLIENT_ISN)
    answer = {"sequence": SERVER_ISN, "acknowledgment": CLIENT_ISN + 1}
    step("syn-ack", "server", SERVER, CLIENT, SYN | ACK, **answer)
    step("syn-ack to client", "client", SERVER, CLIENT, SYN | ACK, **answer)
    return wires
