"""A strict reader of octets in network order."""

from __future__ import annotations

from .profile import Profile


class Reader:
    """Reads big-endian fields (SCF-225 clause 2.3: network byte order; OAI push16/push32) and refuses short input."""

    def __init__(self, data: bytes, where: str) -> None:
        self._data = data
        self._at = 0
        self.where = where

    def left(self) -> int:
        return len(self._data) - self._at

    def octets(self, count: int, name: str) -> bytes:
        if count < 0 or count > self.left():
            raise ValueError(f"{self.where}: {name} needs {count} octets at {self._at}, {self.left()} left")
        value = self._data[self._at : self._at + count]
        self._at += count
        return value

    def unsigned(self, bits: int, name: str) -> int:
        return int.from_bytes(self.octets(bits // 8, name), "big")

    def signed(self, bits: int, name: str) -> int:
        return int.from_bytes(self.octets(bits // 8, name), "big", signed=True)

    def fields(self, layout: str) -> dict[str, int | str]:
        """Read "name:u8 name:u16 name:s32 name:x6" (x: octets, given in hexadecimal) in this order."""
        out: dict[str, int | str] = {}
        for item in layout.split():
            name, kind = item.split(":")
            size = int(kind[1:])
            if kind[0] == "u":
                out[name] = self.unsigned(size, name)
            elif kind[0] == "s":
                out[name] = self.signed(size, name)
            else:
                out[name] = self.octets(size, name).hex()
        return out

    def sub(self, count: int, name: str) -> Reader:
        return Reader(self.octets(count, name), f"{self.where}/{name}")

    def end(self) -> None:
        if self.left():
            raise ValueError(f"{self.where}: {self.left()} trailing octets: {self._data[self._at :][:16].hex()}")


def bit_octets(bits: int, plus_one: bool) -> int:
    """How many octets a string of bits takes: ceil(bits / 8), or bits / 8 + 1 as OAI writes."""
    return bits // 8 + 1 if plus_one else (bits + 7) // 8


def refuse(profile: Profile, wrong: bool, reader: Reader, reason: str) -> None:
    """ValueError on a value that is not allowed, where values are checked."""
    if wrong and profile.check_values:
        raise ValueError(f"{reader.where}: {reason}")


def sfn_slot(reader: Reader) -> dict[str, int]:
    """SFN 0..1023 and slot 0..319 (SCF-222 10.02 clause 3.4; OAI nfapi_nr_interface_scf.h comments)."""
    sfn = reader.unsigned(16, "sfn")
    slot = reader.unsigned(16, "slot")
    if sfn > 1023:
        raise ValueError(f"{reader.where}: sfn {sfn} is above 1023")
    if slot > 319:
        raise ValueError(f"{reader.where}: slot {slot} is above 319")
    return {"sfn": sfn, "slot": slot}
