"""ZUC, 128-EEA3 and 128-EIA3 (TS 35.221, TS 35.222) written from the specifications, for many messages at a time.

As snow3g_model.py: a numpy array holds one word of each message's state, longest message first.
"""

from __future__ import annotations

import numpy as np
from snow3g_model import by_length, key_stream_words, xor_stream

P1 = (9, 15, 0, 14, 15, 15, 2, 10, 0, 4, 0, 12, 7, 5, 3, 9)
P2 = (8, 13, 6, 5, 7, 0, 12, 4, 11, 1, 14, 10, 15, 3, 9, 2)
P3 = (2, 6, 10, 6, 0, 13, 10, 15, 3, 3, 13, 5, 0, 9, 12, 13)
# The S-box S1 as the specification prints it; src/crypto computes it.
S1 = np.frombuffer(
    bytes.fromhex(
        "55c263713bc847869f3cda5b29aafd778cc5940ca61a1300e3a8167240f9f842"
        "4426689681d9453e1076c6a78b3943e13ab5562ac06db3052266bfdc0bfa6248"
        "dd20110636c9c1cff62752bb69f5d4877f844cd29c57a4bc4f9adffed68d7aeb"
        "2b53d85ca11417fb23d57d3067730809eeb7703f61b2198e4ee54b938f5ddba9"
        "adf1ae2ecb0dfcf42d466e1d97e8d1e94d37a5755e839eab829db91ce0cd4989"
        "01b6bd5824a25f387899159050b895e4d091c7ceed0fb46fa0ccf0024a79c3de"
        "a3efea51e66b18ec1b2c80f774e7ff215a6a541e41319235c433070aba7e0e34"
        "88b1987cf33d606c7bcad31f3265042864be859b2f598ad7b025acaf1203e2f2"
    ),
    dtype=np.uint8,
).astype(np.uint32)
D = (
    *(0x44D7, 0x26BC, 0x626B, 0x135E, 0x5789, 0x35E2, 0x7135, 0x09AF),
    *(0x4D78, 0x2F13, 0x6BC4, 0x1AF1, 0x5E26, 0x3C4D, 0x789A, 0x47AC),
)
MODULUS = np.uint64(2**31 - 1)


def _s0() -> np.ndarray:
    box = []
    for x in range(256):
        first = x >> 4 ^ P1[x & 15]
        low = x & 15 ^ P2[first]
        y = (first ^ P3[low]) << 4 | low
        box.append((y << 5 | y >> 3) & 0xFF)
    return np.array(box, dtype=np.uint32)


S0 = _s0()


def _rotate(x: np.ndarray, bits: int) -> np.ndarray:
    return x << bits | x >> 32 - bits


def _linear(x: np.ndarray, rotations: tuple[int, ...]) -> np.ndarray:
    out = x.copy()
    for bits in rotations:
        out ^= _rotate(x, bits)
    return out


def _substitute(x: np.ndarray) -> np.ndarray:
    return S0[x >> 24] << 24 | S1[x >> 16 & 0xFF] << 16 | S0[x >> 8 & 0xFF] << 8 | S1[x & 0xFF]


class Zuc:
    """Generators of key stream, one for each key."""

    def __init__(self, keys: list[bytes], ivs: list[bytes]) -> None:
        k = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 16).astype(np.uint64)
        iv = np.frombuffer(b"".join(ivs), dtype=np.uint8).reshape(-1, 16).astype(np.uint64)
        self.s = [k[:, i] << np.uint64(23) | np.uint64(D[i] << 8) | iv[:, i] for i in range(16)]
        self.r1 = np.zeros(len(keys), dtype=np.uint32)
        self.r2 = self.r1.copy()
        for _ in range(32):
            self._shift(self._f(self._reorganize())[0] >> 1)
        self._f(self._reorganize())
        self._shift(None)

    def _reorganize(self) -> list[np.ndarray]:
        def high(i: int) -> np.ndarray:
            return (self.s[i] >> np.uint64(15)).astype(np.uint32)

        def low(i: int) -> np.ndarray:
            return (self.s[i] & np.uint64(0xFFFF)).astype(np.uint32)

        return [
            high(15) << 16 | low(14),
            low(11) << 16 | high(9),
            low(7) << 16 | high(5),
            low(2) << 16 | high(0),
        ]

    def _f(self, x: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        w = (x[0] ^ self.r1) + self.r2
        w1, w2 = self.r1 + x[1], self.r2 ^ x[2]
        self.r1 = _substitute(_linear(w1 << 16 | w2 >> 16, (2, 10, 18, 24)))
        self.r2 = _substitute(_linear(w2 << 16 | w1 >> 16, (8, 14, 22, 30)))
        return w, x

    def _shift(self, feedback: np.ndarray | None) -> None:
        s = self.s
        v = s[15] << np.uint64(15)
        for i, bits in ((13, 17), (10, 21), (4, 20), (0, 8)):
            v = v + (s[i] << np.uint64(bits))
        v = v + s[0]
        if feedback is not None:
            v = v + feedback.astype(np.uint64)
        v = v % MODULUS
        v[v == 0] = MODULUS
        self.s = [*s[1:], v]

    def next(self, active: int) -> np.ndarray:
        if active < len(self.r1):
            self.s = [row[:active] for row in self.s]
            self.r1, self.r2 = self.r1[:active], self.r2[:active]
        w, x = self._f(self._reorganize())
        self._shift(None)
        return w ^ x[3]


def eea3(
    keys: list[bytes], counts: list[int], bearers: list[int], directions: list[int], messages: list[bytes]
) -> list[bytes]:
    order = by_length([len(m) for m in messages])
    halves = [counts[i].to_bytes(4, "big") + bytes([bearers[i] << 3 | directions[i] << 2, 0, 0, 0]) for i in order]
    out = xor_stream([messages[i] for i in order], Zuc([keys[i] for i in order], [half * 2 for half in halves]))
    return [text for _, text in sorted(zip(order, out, strict=True))]


def _eia3_iv(count: int, bearer: int, direction: int) -> bytes:
    iv = bytearray((count.to_bytes(4, "big") + bytes([bearer << 3, 0, 0, 0])) * 2)
    iv[8] ^= direction << 7
    iv[14] ^= direction << 7
    return bytes(iv)


def eia3(
    keys: list[bytes],
    counts: list[int],
    bearers: list[int],
    directions: list[int],
    messages: list[bytes],
    bits: list[int],
) -> list[bytes]:
    order = by_length(bits)
    generator = Zuc([keys[i] for i in order], [_eia3_iv(counts[i], bearers[i], directions[i]) for i in order])
    lengths = np.array([bits[i] for i in order], dtype=np.int64)
    longest = int(lengths[0])
    words = -(-longest // 32) + 2  # of key stream; the last is needed whole
    stream = np.array([generator.next(len(order)) for _ in range(words)], dtype=np.uint64)
    text = np.zeros((len(order), max(1, -(-longest // 32))), dtype=">u4")
    octets = text.view(np.uint8)
    for row, i in enumerate(order):
        size = -(-bits[i] // 8)
        octets[row, :size] = np.frombuffer(messages[i][:size], dtype=np.uint8)
        if bits[i] % 8:
            octets[row, size - 1] &= 0xFF00 >> bits[i] % 8 & 0xFF
    tag = np.zeros(len(order), dtype=np.uint64)
    for step, active in key_stream_words(lengths, 32):
        window = stream[step, :active] << np.uint64(32) | stream[step + 1, :active]
        word = text[:active, step].astype(np.uint64)
        for bit in range(32):
            chosen = word >> np.uint64(31 - bit) & np.uint64(1)
            tag[:active] ^= (window >> np.uint64(32 - bit)) * chosen
    column = np.arange(len(order))
    after, rest = lengths // 32, (lengths % 32).astype(np.uint64)
    window = stream[after, column] << np.uint64(32) | stream[after + 1, column]
    tag ^= window << rest >> np.uint64(32)
    tag ^= stream[-(-lengths // 32) + 1, column]
    macs = tag & np.uint64(0xFFFFFFFF)
    return [mac for _, mac in sorted((i, int(macs[row]).to_bytes(4, "big")) for row, i in enumerate(order))]
