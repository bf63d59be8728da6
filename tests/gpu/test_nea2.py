"""The device's 128-NEA2 against OpenSSL's AES in counter mode (package cryptography), which shares no code with it."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

TOOL = Path(__file__).resolve().parents[2] / "build" / "release" / "tools" / "nea2_tool"


def nea2(key: bytes, count: int, bearer: int, direction: int, message: bytes) -> bytes:
    """TS 33.401 B.1.3: COUNT, BEARER and DIRECTION are the first 38 bits of the first counter block."""
    counter = count.to_bytes(4, "big") + bytes([bearer << 3 | direction << 2]) + bytes(11)
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
    return encryptor.update(message) + encryptor.finalize()


@pytest.mark.skipif(not TOOL.exists(), reason="build/release/tools/nea2_tool is not built")
@pytest.mark.parametrize("lanes", [1, 7, 32])
def test_messages_of_all_lengths_are_ciphered_as_openssl_does(lanes: int) -> None:
    source = random.Random(33401)
    lines, expected = [], []
    for length in [*range(1, 70), 511, 512, 513, 1500, 9000]:
        key, message = source.randbytes(16), source.randbytes(length)
        count, bearer, direction = source.getrandbits(32), source.randrange(32), source.randrange(2)
        lines.append(f"{lanes} {key.hex()} {count:x} {bearer:x} {direction} {message.hex()}")
        expected.append(nea2(key, count, bearer, direction, message).hex())
    done = subprocess.run([TOOL], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == expected
