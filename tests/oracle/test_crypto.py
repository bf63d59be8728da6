"""src/crypto against judges that share no code with it: OpenSSL (package cryptography) for NEA2 and NIA2, our Python
from the specifications for SNOW 3G and ZUC, and 3GPP's own sets for both.

Cases are random: lengths 0 to 9000, each distance from a cache line, all bearers, both directions, in place and not,
bursts that mix algorithms. SPLITPLANE_CRYPTO_CASES says how many for each algorithm.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import crypto_3gpp_sets as sets
import pytest
import snow3g_model
import zuc_model
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "crypto_tool"
OWN = json.loads((Path(__file__).parent / "crypto_own.json").read_text())
CASES = int(os.environ.get("SPLITPLANE_CRYPTO_CASES", "10000"))
SEED = int(os.environ.get("SPLITPLANE_SEED", "1"))
ALGORITHMS = ("nea1", "nea2", "nea3", "nia1", "nia2", "nia3")

needs_tool = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built (make build WHAT=all)")
needs_sets = pytest.mark.skipif(
    sets.source() is None, reason="SPLITPLANE_IPSEC_MB_SOURCE names no unpacked source package of intel-ipsec-mb"
)


@dataclass(frozen=True)
class Case:
    key: bytes
    count: int
    bearer: int
    direction: int
    data: bytes
    offset: int = 0
    room: int = 0

    def line(self, algorithm: str) -> str:
        inputs = f"{self.count} {self.bearer} {self.direction} {self.offset} {self.room}"
        return f"{algorithm} {self.key.hex()} {inputs} {self.data.hex() or '-'}\n"


def ask(lines: list[str], burst: int = 32, implementation: str = "best") -> list[bytes]:
    done = subprocess.run(
        [TOOL, str(burst), implementation],
        input="".join(lines),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [bytes.fromhex(line) for line in done.stdout.split("\n")[:-1]]


def nea2(case: Case) -> bytes:
    counter = case.count.to_bytes(4, "big") + bytes([case.bearer << 3 | case.direction << 2]) + bytes(11)
    encryptor = Cipher(algorithms.AES(case.key), modes.CTR(counter)).encryptor()
    return encryptor.update(case.data) + encryptor.finalize()


def nia2(case: Case) -> bytes:
    mac = CMAC(algorithms.AES(case.key))
    mac.update(case.count.to_bytes(4, "big") + bytes([case.bearer << 3 | case.direction << 2, 0, 0, 0]) + case.data)
    return mac.finalize()[:4]


def nea5(case: Case) -> bytes:
    """The initialization vector as in the test vectors of intel-ipsec-mb: a zero, BEARER, DIRECTION, then COUNT."""
    counter = bytes([0, case.bearer << 1 | case.direction, 0, 0, 0, 0, 0, 0]) + case.count.to_bytes(4, "big") + bytes(4)
    encryptor = Cipher(algorithms.AES(case.key), modes.CTR(counter)).encryptor()
    return encryptor.update(case.data) + encryptor.finalize()


def _columns(cases: list[Case]) -> tuple[list[bytes], list[int], list[int], list[int], list[bytes]]:
    return (
        [c.key for c in cases],
        [c.count for c in cases],
        [c.bearer for c in cases],
        [c.direction for c in cases],
        [c.data for c in cases],
    )


def nia1(cases: list[Case]) -> list[bytes]:
    keys, counts, bearers, directions, data = _columns(cases)
    return snow3g_model.uia2(keys, counts, [b << 27 for b in bearers], directions, data, [8 * len(d) for d in data])


JUDGES: dict[str, Callable[[list[Case]], list[bytes]]] = {
    "nea1": lambda cases: snow3g_model.uea2(*_columns(cases)),
    "nea2": lambda cases: [nea2(case) for case in cases],
    "nea3": lambda cases: zuc_model.eea3(*_columns(cases)),
    "nia1": nia1,
    "nia2": lambda cases: [nia2(case) for case in cases],
    "nia3": lambda cases: zuc_model.eia3(*_columns(cases), [8 * len(c.data) for c in cases]),
}


def random_cases(number: int, seed: int) -> list[Case]:
    source = random.Random(seed)
    out = []
    for i in range(number):
        longest = (9000, 9000, 1500, 80)[i % 4]
        length = (9000, 8189, 8188, 0)[i] if i < 4 else source.randint(0, longest)
        out.append(
            Case(
                key=source.randbytes(16),
                count=source.choice((source.getrandbits(32), source.getrandbits(32), 0, 2**32 - 1)),
                bearer=source.randrange(32),
                direction=source.randrange(2),
                data=source.randbytes(length),
                offset=source.randrange(64),
                room=source.randrange(2),
            )
        )
    return out


def differing(answers: list[bytes], expected: list[bytes], cases: list[Case]) -> list[str]:
    pairs = zip(answers, expected, cases, strict=True)
    return [f"{len(c.data)} octets at {c.offset}, room {c.room}" for answer, want, c in pairs if answer != want]


@needs_tool
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_cases_agree_with_the_judge(algorithm: str) -> None:
    piece = 2000  # what the judge's arrays hold at a time
    for begin in range(0, CASES, piece):
        cases = random_cases(min(piece, CASES - begin), SEED * 1_000_000 + begin)
        answers = ask([case.line(algorithm) for case in cases])
        assert not differing(answers, JUDGES[algorithm](cases), cases)
        if len(cases) >= 1000:
            assert {(c.bearer, c.direction) for c in cases} == {(b, d) for b in range(32) for d in range(2)}


@needs_tool
@pytest.mark.parametrize("implementation", ["best", "sse", "avx2", "avx512"])
@pytest.mark.parametrize("burst", [1, 7, 32, 100])
def test_bursts_that_mix_algorithms_agree_with_the_judges(burst: int, implementation: str) -> None:
    cases = random_cases(400, SEED + burst)
    chosen = [random.Random(SEED + i).choice(ALGORITHMS) for i in range(len(cases))]
    lines = [case.line(algorithm) for case, algorithm in zip(cases, chosen, strict=True)]
    try:
        answers = ask(lines, burst, implementation)
    except AssertionError as error:
        if "cannot cipher on this CPU" in str(error):
            pytest.skip(f"this CPU has no {implementation}")
        raise
    for algorithm in ALGORITHMS:
        mine = [i for i, name in enumerate(chosen) if name == algorithm]
        picked = [cases[i] for i in mine]
        assert not differing([answers[i] for i in mine], JUDGES[algorithm](picked), picked), algorithm


def _own(vector: dict) -> tuple[Case, bytes]:
    data = bytes.fromhex(vector.get("plaintext") or vector["message"])
    answer = bytes.fromhex(vector.get("ciphertext") or vector.get("mac") or vector["mact"])
    return Case(bytes.fromhex(vector["key"]), vector["count"], vector["bearer"], vector["direction"], data), answer


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_judges_know_the_own_vectors(algorithm: str) -> None:
    cases, answers = zip(*(_own(vector) for vector in OWN if vector["alg"] == algorithm), strict=True)
    assert len(cases) >= 3
    assert JUDGES[algorithm](list(cases)) == list(answers)


@needs_tool
def test_the_own_vectors_come_out() -> None:
    pairs = [(vector["alg"], *_own(vector)) for vector in OWN]
    assert ask([case.line(algorithm) for algorithm, case, _ in pairs]) == [answer for *_, answer in pairs]


@needs_tool
@pytest.mark.parametrize("algorithm", ["nea4", "nea5", "nea6", "nia4", "nia5", "nia6"])
def test_256_bits_are_served_or_refused_with_the_reason(algorithm: str) -> None:
    case = Case(bytes(32), 0, 31, 1, b"\0")
    done = subprocess.run([TOOL], input=case.line(algorithm), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0:
        assert len(done.stdout.strip()) == (2 if algorithm.startswith("nea") else 8)
    else:
        assert f"{algorithm} needs an intel-ipsec-mb with the 256-bit algorithms" in done.stderr


def offers_256_bits() -> bool:
    line = Case(bytes(32), 0, 0, 0, b"\0").line("nea5")
    return (
        TOOL.exists()
        and subprocess.run([TOOL], input=line, capture_output=True, text=True, check=False).returncode == 0
    )


needs_256_bits = pytest.mark.skipif(not offers_256_bits(), reason="the tool's intel-ipsec-mb has no 256-bit algorithms")


@needs_256_bits
def test_nea5_agrees_with_openssl() -> None:
    source = random.Random(SEED)
    cases = [replace(case, key=source.randbytes(32)) for case in random_cases(400, SEED)]
    answers = ask([case.line("nea5") for case in cases])
    assert not differing(answers, [nea5(case) for case in cases], cases)


@needs_256_bits
@pytest.mark.parametrize("algorithm", ["nea4", "nea5", "nea6"])
def test_256_bit_vectors_of_the_library_come_out(algorithm: str) -> None:
    known = sets.ciphers_of_256_bits(algorithm)
    if not known:
        pytest.skip("SPLITPLANE_IPSEC_MB_SOURCE names no source with vectors in JSON")
    cases = [Case(one.key, one.count, one.bearer, one.direction, one.plain) for one in known]
    assert ask([case.line(algorithm) for case in cases]) == [one.cipher for one in known]


def _prefix(octets: bytes, bits: int) -> int:
    return int.from_bytes(octets[: -(-bits // 8)], "big") >> -bits % 8


@needs_tool
@needs_sets
@pytest.mark.parametrize(
    ("algorithm", "read"),
    [("nea1", sets.snow3g_ciphers), ("nea2", sets.aes_ciphers), ("nea3", sets.zuc_ciphers)],
)
def test_3gpp_sets_of_ciphering_come_out(algorithm: str, read: Callable[[Path], list[sets.CipherSet]]) -> None:
    known = read(sets.source())
    assert len(known) >= 2
    for one in known:  # of a length in bits: the octets' first bits must agree
        case = Case(one.key, one.count, one.bearer, one.direction, one.plain[: -(-one.bits // 8)])
        assert _prefix(ask([case.line(algorithm)])[0], one.bits) == _prefix(one.cipher, one.bits)
        assert _prefix(JUDGES[algorithm]([case])[0], one.bits) == _prefix(one.cipher, one.bits)


@needs_tool
@needs_sets
@pytest.mark.parametrize(
    ("algorithm", "read"), [("nia1", sets.snow3g_macs), ("nia2", sets.aes_macs), ("nia3", sets.zuc_macs)]
)
def test_3gpp_sets_of_integrity_come_out(algorithm: str, read: Callable[[Path], list[sets.MacSet]]) -> None:
    known = read(sets.source())
    assert len(known) >= 4
    for one in known:
        case = Case(one.key, one.count, one.fresh >> 27, one.direction, one.message[: -(-one.bits // 8)])
        inputs = ([one.key], [one.count])
        if algorithm == "nia1":
            judged = snow3g_model.uia2(*inputs, [one.fresh], [one.direction], [one.message], [one.bits])
            assert judged == [one.mac]
        elif algorithm == "nia3":
            judged = zuc_model.eia3(*inputs, [case.bearer], [one.direction], [one.message], [one.bits])
            assert judged == [one.mac]
        # A PDCP PDU is whole octets, and its FRESH is BEARER.
        if one.bits % 8 == 0 and one.fresh % 2**27 == 0:
            assert ask([case.line(algorithm)]) == [one.mac]
