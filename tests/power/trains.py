"""A capture of packet trains: nothing for a while, then the full rate at once, again and again."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

PCAP_NANOSECONDS, ETHERNET, SNAP = 0xA1B23C4D, 1, 65535
FRAME = bytes.fromhex("020000000001 020000000002 88b5") + bytes(114)  # an EtherType for experiments: nobody answers


@dataclass(frozen=True)
class Trains:
    rate: int  # within a train
    packets: int  # of a train
    trains: int
    pause_s: float = 0.2

    @property
    def total(self) -> int:
        return 1 + self.trains * self.packets

    def write(self, path: Path) -> Path:
        """One packet first, so that the first train too comes after a pause and not while the peers find each other."""
        header = struct.pack("<IHHiIII", PCAP_NANOSECONDS, 2, 4, 0, 0, SNAP, ETHERNET)
        gap_ns, pause_ns = 1e9 / self.rate, self.pause_s * 1e9
        with path.open("wb") as file:
            file.write(header + self._packet(0))
            begin = pause_ns
            for _ in range(self.trains):
                for number in range(self.packets):
                    file.write(self._packet(int(begin + number * gap_ns)))
                begin += self.packets * gap_ns + pause_ns
        return path

    @staticmethod
    def _packet(at_ns: int) -> bytes:
        seconds, ns = divmod(at_ns, 1_000_000_000)
        return struct.pack("<IIII", seconds, ns, len(FRAME), len(FRAME)) + FRAME
