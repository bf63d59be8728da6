"""3GPP's test sets as the source package of intel-ipsec-mb holds them, read from its C headers and never copied.

The package is looked for in $SPLITPLANE_IPSEC_MB_SOURCE, where `apt-get source intel-ipsec-mb` unpacked it.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Tree = Any  # a number, or a list of trees


@dataclass(frozen=True)
class CipherSet:
    key: bytes
    count: int
    bearer: int
    direction: int
    bits: int
    plain: bytes
    cipher: bytes


@dataclass(frozen=True)
class MacSet:
    key: bytes
    count: int
    fresh: int  # BEARER of EIA3 in its five highest bits
    direction: int
    bits: int
    message: bytes
    mac: bytes


def source() -> Path | None:
    folder = os.environ.get("SPLITPLANE_IPSEC_MB_SOURCE")
    return Path(folder) / "test" if folder and (Path(folder) / "test" / "snow3g_test_vectors.h").exists() else None


def _initializer(text: str, name: str) -> list[Tree]:
    """The braces of `name ... = {...};` as nested lists of numbers."""
    begin = re.search(rf"\b{name}\b[^;=]*=", text).end()
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text[begin : text.index(";", begin)], flags=re.DOTALL)
    stack: list[list[Tree]] = [[]]
    for token in re.findall(r"[{}]|0[xX][0-9a-fA-F]+|\b\d+\b", plain):
        if token == "{":
            stack.append([])
        elif token == "}":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(int(token, 0))
    return stack[0][0]


def _from_iv(iv: bytes) -> tuple[int, int, int]:
    return int.from_bytes(iv[:4], "big"), iv[4] >> 3, iv[4] >> 2 & 1


def _array(text: str, name: str) -> bytes:
    return bytes(_initializer(text, name))


def snow3g_ciphers(folder: Path) -> list[CipherSet]:
    text = (folder / "snow3g_test_vectors.h").read_text()
    bits, _, _, plains, ciphers, keys, ivs, *_ = _initializer(text, "snow3g_f8_linear_bitvectors")
    return [
        CipherSet(bytes(keys[i]), *_from_iv(bytes(ivs[i])), bits[i], bytes(plains[i]), bytes(ciphers[i]))
        for i in range(len(bits))
    ]


def snow3g_macs(folder: Path) -> list[MacSet]:
    text = (folder / "snow3g_test_vectors.h").read_text()
    out = []
    for message, bits, key, _, mac, _, _, _, (count, fresh, direction) in _initializer(text, "snow_f9_vectors"):
        out.append(MacSet(bytes(key), count, fresh, direction, bits, bytes(message), bytes(mac[:4])))
    return out


def zuc_ciphers(folder: Path) -> list[CipherSet]:
    text = (folder / "zuc_test_vectors.h").read_text()
    return [
        CipherSet(bytes(key), count, bearer, direction, bits, bytes(plain), bytes(cipher))
        for key, count, bearer, direction, bits, plain, cipher in _initializer(text, "testEEA3_vectors")
    ]


def zuc_macs(folder: Path) -> list[MacSet]:
    text = (folder / "zuc_test_vectors.h").read_text()
    return [
        MacSet(bytes(key), count, bearer << 27, direction, bits, bytes(message), bytes(mac))
        for key, count, bearer, direction, bits, message, mac in _initializer(text, "testEIA3_vectors")
    ]


def aes_ciphers(folder: Path) -> list[CipherSet]:
    text = (folder / "ctr_test.c").read_text()
    out = []
    for number in sorted({int(found) for found in re.findall(r"K(\d+)_CTR_BIT\[", text)}):
        key, iv, plain, cipher = (_array(text, f"{kind}{number}_CTR_BIT") for kind in ("K", "IV", "P", "C"))
        length = re.search(rf"#define P{number}_CTR_BIT_len (\d+)", text)
        if length is None:
            continue  # the library's own, for a fault that it had
        if len(key) == 16 and not any(iv[5:]) and not iv[4] & 3:
            out.append(CipherSet(key, *_from_iv(iv), int(length.group(1)), plain, cipher))
    return out


def aes_macs(folder: Path) -> list[MacSet]:
    """The library's messages begin with the 8 octets that NIA2 adds."""
    text = (folder / "cmac_test.c").read_text()
    out = []
    for number in sorted({int(found) for found in re.findall(r"EIA2_128_M_(\d+)\[", text)}):
        key, mac, whole = (_array(text, f"EIA2_128_{kind}_{number}") for kind in ("K", "T", "M"))
        comment = text[: text.index(f"EIA2_128_K_{number}[")]
        bits = int(re.findall(r"Mlen\s*=\s*(?:\(\w+\)\s*)?(\d+)", comment)[-1])
        count, bearer, direction = _from_iv(whole)
        out.append(MacSet(key, count, bearer << 27, direction, bits - 64, whole[8:], mac[:4]))
    return out


def ciphers_of_256_bits(algorithm: str) -> list[CipherSet]:
    """What newer versions of the library keep as JSON. Of its initialization vectors, those that PDCP can make."""
    name = {"nea4": "snow5g_nea4", "nea5": "aes_nea5", "nea6": "zuc_nea6"}[algorithm]
    path = Path(os.environ.get("SPLITPLANE_IPSEC_MB_SOURCE", "")) / "test" / "kat-app" / "vectors" / f"{name}_test.json"
    if not path.is_file():
        return []
    out = []
    for test in (test for group in json.loads(path.read_text())["testGroups"] for test in group["tests"]):
        iv, plain = bytes.fromhex(test["iv"]), bytes.fromhex(test["msg"])
        if not plain or iv[0] or iv[1] >> 6 or any(iv[2:8]) or any(iv[12:]):
            continue
        count = int.from_bytes(iv[8:12], "big")
        key, cipher = bytes.fromhex(test["key"]), bytes.fromhex(test["ct"])
        out.append(CipherSet(key, count, iv[1] >> 1, iv[1] & 1, 8 * len(plain), plain, cipher))
    return out
