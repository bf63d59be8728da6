"""SNOW 3G, UEA2 and UIA2 (TS 35.215, TS 35.216) written from the specifications, for many messages at a time.

A numpy array holds one word of each message's state, so that a step serves ten thousand messages. They are sorted by
length, longest first: a later step serves the first columns only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Words = np.ndarray  # uint32, one for each message

ONES = np.uint32(0xFFFFFFFF)


def _mul_x(value: int, polynomial: int) -> int:
    return (value << 1 ^ polynomial) & 0xFF if value & 0x80 else value << 1


def _mul_x_pow(value: int, power: int, polynomial: int) -> int:
    for _ in range(power):
        value = _mul_x(value, polynomial)
    return value


def _multiply(a: int, b: int, polynomial: int) -> int:
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ polynomial if a & 0x80 else a << 1
        b >>= 1
    return product


def _power(base: int, exponent: int, polynomial: int) -> int:
    result = 1
    for _ in range(exponent):
        result = _multiply(result, base, polynomial)
    return result


def _rijndael_box() -> list[int]:
    box = []
    for x in range(256):
        inverse = _power(x, 254, 0x11B)
        rotated = [(inverse << bits | inverse >> 8 - bits) & 0xFF for bits in range(5)]
        box.append(rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63)
    return box


def _sq_box() -> list[int]:  # the Dickson polynomial of TS 35.216 3.3.2
    exponents = (1, 9, 13, 15, 33, 41, 45, 47, 49)
    box = []
    for x in range(256):
        value = 0x25
        for exponent in exponents:
            value ^= _power(x, exponent, 0x169)
        box.append(value)
    return box


def _round_tables(box: list[int], polynomial: int) -> list[np.ndarray]:
    """For each octet of the input word, from the highest: what it adds to the output word."""
    columns = []
    for position in range(4):
        table = np.zeros(256, dtype=np.uint32)
        for x in range(256):
            s = box[x]
            doubled = _mul_x(s, polynomial)
            # Output octet `position` gets 2S, the next one 3S, the two after it S (TS 35.216 3.3.1).
            octets = [0, 0, 0, 0]
            for offset, value in enumerate((doubled, doubled ^ s, s, s)):
                octets[(position + offset) % 4] = value
            table[x] = int.from_bytes(bytes(octets), "big")
        columns.append(table)
    return columns


S1 = _round_tables(_rijndael_box(), 0x1B)
S2 = _round_tables(_sq_box(), 0x69)
MUL_ALPHA = np.array(
    [int.from_bytes(bytes(_mul_x_pow(c, p, 0xA9) for p in (23, 245, 48, 239)), "big") for c in range(256)],
    dtype=np.uint32,
)
DIV_ALPHA = np.array(
    [int.from_bytes(bytes(_mul_x_pow(c, p, 0xA9) for p in (16, 39, 6, 64)), "big") for c in range(256)],
    dtype=np.uint32,
)


def _substitute(tables: list[np.ndarray], word: Words) -> Words:
    return tables[0][word >> 24] ^ tables[1][word >> 16 & 0xFF] ^ tables[2][word >> 8 & 0xFF] ^ tables[3][word & 0xFF]


class Snow3g:
    """Generators of key stream, one for each column. `keys` and `ivs` have 4 rows, K0 to K3 and IV0 to IV3."""

    def __init__(self, keys: np.ndarray, ivs: np.ndarray) -> None:
        k, iv = keys, ivs
        inverted = [k[i] ^ ONES for i in range(4)]
        self.s = [*inverted, *(k[i].copy() for i in range(4)), *inverted, *(k[i].copy() for i in range(4))]
        self.s[15] = k[3] ^ iv[0]
        self.s[12] = k[0] ^ iv[1]
        self.s[10] = inverted[2] ^ iv[2]
        self.s[9] = inverted[1] ^ iv[3]
        self.r1, self.r2, self.r3 = (np.zeros_like(k[0]) for _ in range(3))
        for _ in range(32):
            self._shift(self._clock())
        self._clock()
        self._shift(None)

    def _clock(self) -> Words:
        f = (self.s[15] + self.r1) ^ self.r2
        r = self.r2 + (self.r3 ^ self.s[5])
        self.r3 = _substitute(S2, self.r2)
        self.r2 = _substitute(S1, self.r1)
        self.r1 = r
        return f

    def _shift(self, feedback: Words | None) -> None:
        s0, s11 = self.s[0], self.s[11]
        v = s0 << 8 ^ MUL_ALPHA[s0 >> 24] ^ self.s[2] ^ s11 >> 8 ^ DIV_ALPHA[s11 & 0xFF]
        self.s = [*self.s[1:], v if feedback is None else v ^ feedback]

    def next(self, active: int) -> Words:
        """The next word of the first `active` messages. The others end here."""
        if active < len(self.r1):
            self.s = [row[:active] for row in self.s]
            self.r1, self.r2, self.r3 = self.r1[:active], self.r2[:active], self.r3[:active]
        z = self._clock() ^ self.s[0]
        self._shift(None)
        return z


def key_rows(keys: list[bytes]) -> np.ndarray:
    """K3 is the first word of the key (TS 35.215 3.4)."""
    words = np.frombuffer(b"".join(keys), dtype=">u4").reshape(-1, 4).astype(np.uint32)
    return np.ascontiguousarray(words.T[::-1])


def _columns(values: list[int]) -> Words:
    return np.array(values, dtype=np.uint32)


def by_length(lengths: list[int]) -> list[int]:
    return sorted(range(len(lengths)), key=lambda i: -lengths[i])


def key_stream_words(lengths: np.ndarray, unit: int) -> Iterator[tuple[int, int]]:
    """(step, number of messages that still need it) for lengths in falling order."""
    negative = -lengths
    step = 0
    while (active := int(np.searchsorted(negative, -(step * unit), side="left"))) > 0:
        yield step, active
        step += 1


def xor_stream(messages: list[bytes], generator) -> list[bytes]:
    """Messages in falling order of length, each with the key stream of its column."""
    lengths = np.array([len(m) for m in messages])
    if not len(messages) or not lengths[0]:
        return list(messages)
    stream = np.zeros((len(messages), (int(lengths[0]) + 3) // 4), dtype=">u4")
    for step, active in key_stream_words(lengths, 4):
        stream[:active, step] = generator.next(active)
    octets = stream.view(np.uint8)
    return [
        (np.frombuffer(m, dtype=np.uint8) ^ octets[i, : len(m)]).tobytes() if m else b"" for i, m in enumerate(messages)
    ]


def uea2(
    keys: list[bytes], counts: list[int], bearers: list[int], directions: list[int], messages: list[bytes]
) -> list[bytes]:
    order = by_length([len(m) for m in messages])
    second = [bearers[i] << 27 | directions[i] << 26 for i in order]
    count = _columns([counts[i] for i in order])
    ivs = np.array([_columns(second), count, _columns(second), count])
    out = xor_stream([messages[i] for i in order], Snow3g(key_rows([keys[i] for i in order]), ivs))
    return [text for _, text in sorted(zip(order, out, strict=True))]


def _mul64(value: np.ndarray, powers: list[np.ndarray]) -> np.ndarray:
    """`powers` are the other factor times x to the power of 0, 1, ... 63."""
    result = np.zeros_like(value)
    for bit, power in enumerate(powers):
        result ^= power[: len(value)] * (value >> np.uint64(bit) & np.uint64(1))
    return result


def _powers(factor: np.ndarray) -> list[np.ndarray]:
    out = [factor]
    for _ in range(63):
        factor = factor << np.uint64(1) ^ (factor >> np.uint64(63)) * np.uint64(0x1B)
        out.append(factor)
    return out


def uia2(
    keys: list[bytes],
    counts: list[int],
    freshes: list[int],
    directions: list[int],
    messages: list[bytes],
    bits: list[int],
) -> list[bytes]:
    order = by_length(bits)
    count = _columns([counts[i] for i in order])
    fresh = _columns([freshes[i] for i in order])
    direction = _columns([directions[i] for i in order])
    ivs = np.array([fresh ^ direction << 15, count ^ direction << 31, fresh, count])
    generator = Snow3g(key_rows([keys[i] for i in order]), ivs)
    z = [generator.next(len(order)).astype(np.uint64) for _ in range(5)]
    p, q = z[0] << np.uint64(32) | z[1], z[2] << np.uint64(32) | z[3]
    lengths = np.array([bits[i] for i in order], dtype=np.int64)
    blocks = np.zeros((len(order), max(1, -(-int(lengths[0]) // 64))), dtype=">u8")
    octets = blocks.view(np.uint8)
    for row, i in enumerate(order):
        size = -(-bits[i] // 8)
        octets[row, :size] = np.frombuffer(messages[i][:size], dtype=np.uint8)
        if bits[i] % 8:
            octets[row, size - 1] &= 0xFF00 >> bits[i] % 8 & 0xFF
    value = np.zeros(len(order), dtype=np.uint64)
    p_powers = _powers(p)
    for step, active in key_stream_words(lengths, 64):
        value[:active] = _mul64(value[:active] ^ blocks[:active, step].astype(np.uint64), p_powers)
    value = _mul64(value ^ lengths.astype(np.uint64), _powers(q))
    macs = (value >> np.uint64(32)).astype(np.uint32) ^ z[4].astype(np.uint32)
    return [mac for _, mac in sorted((i, int(macs[row]).to_bytes(4, "big")) for row, i in enumerate(order))]
