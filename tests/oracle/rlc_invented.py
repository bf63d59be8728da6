"""PDUs that no peer would send: damaged ones, octets at random, and invented ones that nearly fit the state."""

from __future__ import annotations

import random

from rlc_pdu import MAX_RANGE, TO_THE_END, Nack, Status, write_amd, write_status, write_umd


def mutated(rng: random.Random, pdu: str) -> str:
    octets = bytearray.fromhex(pdu)
    kind = rng.random()
    if kind < 0.5:
        for _ in range(rng.randint(1, 3)):
            # Mostly in the header, where it matters.
            octets[rng.randrange(min(len(octets), rng.choice([3, 8, 4000])))] ^= 1 << rng.randrange(8)
    elif kind < 0.75:
        del octets[rng.randrange(len(octets)) :]
    else:
        octets += rng.randbytes(rng.randint(1, 4))
    return octets.hex()


def invented(rng: random.Random, mode: str, sn_bits: int, state: dict) -> str:
    """For the entity in this state. An empty string is possible and means nothing."""
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.randint(0, 12)).hex()
    if mode == "um":
        return invented_umd(rng, sn_bits, state)
    if kind < 0.6:
        status = write_status(sn_bits, invented_status(rng, sn_bits, state))
        return mutated(rng, status.hex()) if rng.random() < 0.1 else status.hex()
    return invented_amd(rng, sn_bits, state)


def near(rng: random.Random, modulus: int, *edges: int) -> int:
    return (rng.choice(edges) + rng.randint(-2, 3)) % modulus


def position(rng: random.Random) -> tuple[int, bool, bytes]:
    """Octets near the beginning, so that invented segments overlap, fill holes and contradict; rarely far out."""
    so = 0 if rng.random() < 0.3 else rng.randint(1, 12)
    data = rng.randbytes(rng.randint(1, 8))
    if rng.random() < 0.03:
        so = rng.choice([65535, 65535 - len(data), 65534, 65536 - len(data)])
    return so, rng.random() < 0.3, data


def invented_amd(rng: random.Random, sn_bits: int, state: dict) -> str:
    modulus, window = 1 << sn_bits, 1 << sn_bits - 1
    edges = [state["rx_next"]] * 3 + [state["rx_next_highest"], state["rx_highest_status"]]
    sn = near(rng, modulus, *edges)
    if rng.random() < 0.1:
        upper_edge = state["rx_next"] + window
        sn = rng.choice([upper_edge - 1, upper_edge - 2, upper_edge, sn + rng.randrange(modulus)]) % modulus
    so, ends, data = position(rng)
    return write_amd(sn_bits, rng.random() < 0.4, sn, so, ends, data).hex()


def invented_umd(rng: random.Random, sn_bits: int, state: dict) -> str:
    modulus, window = 1 << sn_bits, 1 << sn_bits - 1
    edges = [state["rx_next_reassembly"]] * 2 + [state["rx_next_highest"]] * 2
    if rng.random() < 0.15:
        edges = [state["rx_next_highest"] - window, state["rx_next_highest"] + window, rng.randrange(modulus)]
    so, ends, data = position(rng)
    return write_umd(sn_bits, near(rng, modulus, *edges), so, ends, data).hex()


def invented_status(rng: random.Random, sn_bits: int, state: dict) -> Status:
    """Most are right or wrong in one thing only."""
    modulus = 1 << sn_bits
    base = state["tx_next_ack"]
    outstanding = (state["tx_next"] - base) % modulus
    ack = rng.randint(0, outstanding) if rng.random() < 0.9 else rng.choice([-1, outstanding + 1, outstanding + 9])
    nacks: list[Nack] = []
    place = rng.choice([0, 0, 0, -1, -3]) if rng.random() < 0.8 else rng.randint(0, max(ack, 0))
    while rng.random() < 0.75 and (place < ack or rng.random() < 0.03):
        nack, place = invented_nack(rng, place, ack, modulus, base)
        nacks.append(nack)
        if rng.random() < 0.05:
            place -= rng.randint(1, 3)
    return Status((base + ack) % modulus, tuple(nacks))


def invented_nack(rng: random.Random, place: int, ack: int, modulus: int, base: int) -> tuple[Nack, int]:
    """A block at `place` above TX_Next_Ack, and where the next one begins."""
    start = end = count = None
    if rng.random() < 0.5:
        start = rng.randint(0, 10) if rng.random() < 0.8 else rng.randint(0, 2000)
        end = TO_THE_END if rng.random() < 0.4 else start + rng.randint(0, 30)
        if rng.random() < 0.02:
            end = rng.randint(0, start)
    if rng.random() < 0.3:
        count = rng.randint(1, min(max(ack - place, 1), MAX_RANGE)) if rng.random() < 0.85 else rng.choice([0, 4, 255])
    nack = Nack((base + place) % modulus, start, end, count)
    if start is not None and rng.random() < 0.3:
        return nack, place + (count or 1) - 1  # another hole of the same SDU, perhaps, or a range that begins there
    if count is not None and count > 1 and rng.random() < 0.1:
        return nack, place + rng.randint(1, count - 1)  # inside the range
    return nack, place + max(count or 1, 1) + rng.choice([0, 0, 0, 1, 2])
