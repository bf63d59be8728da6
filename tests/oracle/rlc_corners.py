"""Corners that a schedule at random reaches too seldom, as command lines for a duel; each begins with new entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

from rlc_pdu import AM_WINDOW, Nack, Status, write_amd, write_status, write_umd

AM_TIMES = "poll_pdu=0 poll_byte=0 max_retx=2 t_poll_retransmit=40 t_reassembly=25 t_status_prohibit=5 max_queued=4096"
NEW = {
    (mode, sn_bits): f"new x {mode} sn_bits={sn_bits} "
    + (AM_TIMES if mode == "am" else "t_reassembly=20 max_queued=4096")
    for mode, sn_bits in (("am", 12), ("am", 18), ("um", 6), ("um", 12))
}


def status(sn_bits: int, ack_sn: int, *nacks: Nack) -> str:
    return f"receive x {write_status(sn_bits, Status(ack_sn, nacks)).hex()}"


def poll_chooses_an_sdu_that_is_pending_in_part() -> Iterator[str]:
    """The window is stalled while some octets of the newest SDU wait behind others when t-PollRetransmit expires."""
    window = AM_WINDOW[12]
    yield NEW["am", 12]
    for number in range(window):
        yield f"send x {'00' * 10 if number + 1 == window else '01'}"
        yield "pull x 100"
    yield status(12, window, Nack(0), Nack(window - 1, 3, 5))
    yield "pull x 100"  # SN 0, with P, because the window is stalled
    for now in (40, 80, 120):
        yield f"tick x {now}"
        yield "pull x 4"
        yield "pull x 100"
    yield "tick x 1000"
    yield from ["pull x 100"] * 12
    yield status(12, window)
    yield "send x 02"
    yield "pull x 100"


def nacks_at_the_edges_of_the_window(sn_bits: int) -> Iterator[str]:
    """A block below, at and half the SNs away from the edge, alone and with others; each time on a new entity."""
    modulus, window = 1 << sn_bits, AM_WINDOW[sn_bits]
    yield NEW["am", sn_bits]
    for index, (away, count, so, ack) in enumerate(
        product(
            (-window, -window + 1, window - 1, -2, 0, 2, 3, 5),
            (None, 1, 3, 255),
            ((None, None), (2, 3), (8, 9), (8, 0xFFFF), (9, 0xFFFF)),
            (3, 6),
        )
    ):
        base = (modulus - 3, window - 3, 0)[index % 3]
        yield from ["reset x", f"seed x {base}"]
        yield from ["send x 000102030405060708"] * 6
        yield from ["pull x 100"] * 5
        yield "pull x 8"  # the last one only partly
        nack = Nack((base + away) % modulus, *so, count)
        low, high = Nack((base + 3) % modulus, 0, 1), Nack((base + 5) % modulus, 0, 0)
        for blocks in ((nack,), (low, nack), (nack, low), (nack, high)):
            yield status(sn_bits, (base + ack) % modulus, *blocks)
            yield "pull x 7"


def the_largest_sdus(mode: str, sn_bits: int) -> Iterator[str]:
    """65535 octets are an SDU, 65536 are none, sent or received."""
    yield NEW[mode, sn_bits]
    for octets in (65536, 65535):
        yield f"send x {'5a' * octets}"
        whole = bytes(octets)
        pdu = write_amd(sn_bits, True, 1, 0, True, whole) if mode == "am" else write_umd(sn_bits, 1, 0, True, whole)
        yield f"receive x {pdu.hex()}"
    for grant in (30000, 30000, 5, 30000, 10):
        yield f"pull x {grant}"
    for sn, (so, ends, octets) in enumerate(
        [(65534, True, 1), (65534, True, 2), (65535, True, 1), (65533, False, 2)], 2
    ):
        data = bytes(octets)
        pdu = write_amd(sn_bits, True, sn, so, ends, data) if mode == "am" else write_umd(sn_bits, sn, so, ends, data)
        yield f"receive x {pdu.hex()}"
        yield f"tick x {sn * 100}"
        yield "pull x 100"


def discards_of_what_is_not_there(mode: str, sn_bits: int) -> Iterator[str]:
    yield NEW[mode, sn_bits]
    yield "discard x 0"
    for _ in range(4):
        yield "send x 000102030405060708"
    yield "pull x 8"
    for number in (0, 2, 2, 4, 1000000, 3, 1):
        yield f"discard x {number}"
    yield from ["pull x 8"] * 4
    yield "reset x"
    yield "discard x 0"
    yield "send x 00"
    yield "discard x 0"
    yield "pull x 8"


def polls(sn_bits: int) -> Iterator[str]:
    """pollByte and pollPDU reached exactly; three polls that wait for different holes."""
    for limits in ("poll_pdu=0 poll_byte=10", "poll_pdu=3 poll_byte=0", "poll_pdu=3 poll_byte=10"):
        yield f"new x am sn_bits={sn_bits} {limits} {AM_TIMES.split(maxsplit=2)[2]}"
        for octets in (5, 5, 9, 1, 9, 2, 1, 1, 1, 10, 4):
            yield f"send x {'00' * octets}"
        yield from ["pull x 9"] * 16
    yield NEW["am", sn_bits]
    for time, (sn, poll) in enumerate(((1, True), (3, True), (5, True), (0, False), (2, False), (4, False)), 1):
        yield f"receive x {write_amd(sn_bits, poll, sn, 0, True, b'0').hex()}"
        yield f"tick x {time * 3}"
        yield "pull x 100"


def reassembly_at_the_upper_edge(sn_bits: int) -> Iterator[str]:
    """The highest SN of the window comes first: RX_Next_Status_Trigger = RX_Next + AM_Window_Size."""
    window = AM_WINDOW[sn_bits]
    yield NEW["am", sn_bits]
    for time, sn in enumerate((window - 1, 3, 4, window, 0, 1, window, window + 1, 2, window + 4)):
        yield f"receive x {write_amd(sn_bits, False, sn, 0, True, b'0').hex()}"
        yield f"tick x {time * 3}"
        yield "pull x 40"


def window_moves_onto_delivered_sdus(sn_bits: int) -> Iterator[str]:
    """UM: SN 0 never becomes complete, the next ones do; then a segment far ahead moves the window among them."""
    window = 1 << sn_bits - 1
    for jump in range(window - 2, window + 14):
        for order in ((1, 2, 3, 4, 5, 8, 9), (9, 4, 3, 2)):
            yield from [NEW["um", sn_bits], f"receive x {write_umd(sn_bits, 0, 0, False, b'0').hex()}"]
            for sn in order:
                yield f"receive x {write_umd(sn_bits, sn, 0, False, b'1').hex()}"
                yield f"receive x {write_umd(sn_bits, sn, 1, True, b'2').hex()}"
            for sn in (jump, 2, 6, jump + 1):
                yield f"receive x {write_umd(sn_bits, sn, 0, False, b'3').hex()}"
                yield f"tick x {jump}"
            yield f"tick x {jump + 20}"


def many_holes_of_one_sdu() -> Iterator[str]:
    """More runs wait than are kept apart, in order and between those that wait already; then some are sent."""
    yield NEW["am", 12]
    yield f"send x {'5a' * 3000}"
    yield "send x 5a"
    yield from ["pull x 4000"] * 2
    for first, step, count in ((2, 8, 250), (0, 600, 5), (6, 8, 250), (2000, 4, 200), (1, 300, 10)):
        yield status(12, 1, *(Nack(0, first + step * i, first + step * i) for i in range(count)))
        yield from ["pull x 6"] * 3
    yield from ["pull x 300"] * 300
    yield status(12, 2)


def blocks_that_touch(sn_bits: int) -> Iterator[str]:
    """Blocks that begin in the SDU where the one before ended, and ranges that reach ACK_SN, as others send them."""
    yield NEW["am", sn_bits]
    for first, second in product(
        (
            Nack(0, 3, 5),
            Nack(0, 3, 5, 2),
            Nack(0, None, None, 2),
            Nack(1, 2, 5),
            Nack(1, 2, 0xFFFF),
            Nack(0, 4, 2, 255),
        ),
        (
            Nack(1, 6, 8),
            Nack(1, 5, 7),
            Nack(1, 6, 2, 2),
            Nack(1, 6, 2, 3),
            Nack(1, 6, 8, 200),
            Nack(1),
            Nack(3),
            Nack(2),
        ),
    ):
        for ack in (2, 3, 4):
            yield from ["reset x", *["send x 000102030405060708"] * 4, *["pull x 100"] * 4]
            yield status(sn_bits, ack, first, second)
            yield from ["pull x 6"] * 4


CORNERS: dict[str, Callable[[], Iterator[str]]] = {
    "am 12 poll and partly pending": poll_chooses_an_sdu_that_is_pending_in_part,
    "am 12 many holes of one SDU": many_holes_of_one_sdu,
}
for _mode, _sn_bits in NEW:
    both = {"largest": the_largest_sdus, "discards": discards_of_what_is_not_there}
    CORNERS |= {f"{_mode} {_sn_bits} {name}": partial(corner, _mode, _sn_bits) for name, corner in both.items()}
    of_am = {
        "polls": polls,
        "upper edge": reassembly_at_the_upper_edge,
        "edges of NACKs": nacks_at_the_edges_of_the_window,
        "blocks that touch": blocks_that_touch,
    }
    own = of_am if _mode == "am" else {"window moves": window_moves_onto_delivered_sdus}
    CORNERS |= {f"{_mode} {_sn_bits} {name}": partial(corner, _sn_bits) for name, corner in own.items()}
