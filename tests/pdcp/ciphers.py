"""NEA and NIA by name (TS 33.501 Annex D), so that a model takes the algorithm as a value.

A cipher maps (key, COUNT, BEARER, DIRECTION, octets) to octets of the same length, and is its own inverse. An
integrity algorithm maps the same to the MAC-I. Another module adds NEA1 or NEA3 by a new row in the two tables.
"""

from __future__ import annotations

from collections.abc import Callable

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

UPLINK, DOWNLINK = 0, 1
MAC_I_OCTETS = 4
KEY_OCTETS = 16

Algorithm = Callable[[bytes, int, int, int, bytes], bytes]


def first_block(count: int, bearer: int, direction: int) -> bytes:
    """COUNT, then BEARER (5 bits), DIRECTION (1 bit) and 26 zero bits."""
    return count.to_bytes(4, "big") + bytes([bearer << 3 | direction << 2, 0, 0, 0])


def nea0(key: bytes, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
    return octets


def nia0(key: bytes, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
    """TS 33.501 D.1: the MAC-I and the expected MAC-I are zeros."""
    return bytes(MAC_I_OCTETS)


def nea2(key: bytes, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
    """AES-128 in counter mode."""
    counter = first_block(count, bearer, direction) + bytes(8)
    return Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(octets)


def nia2(key: bytes, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
    """AES-128 CMAC; its first four octets."""
    mac = CMAC(algorithms.AES(key))
    mac.update(first_block(count, bearer, direction) + octets)
    return mac.finalize()[:MAC_I_OCTETS]


CIPHERS: dict[str, Algorithm] = {"nea0": nea0, "nea2": nea2}
INTEGRITY: dict[str, Algorithm] = {"nia0": nia0, "nia2": nia2}
