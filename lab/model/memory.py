"""How many bearers a card's tables hold, from Table I: octets of an entry, and what fits into cache and memory."""

from __future__ import annotations

from dataclasses import dataclass

from lab.model.fit import FitPoints, Line, fit_line

SIZE_OCTETS = {"emu_cache": 6 << 20, "emu": 2 << 30}  # Table I, "Size"
TABLE_ENTRIES, MOST_TABLES = 65536, 256  # P4 paper, section V.F.2


@dataclass(frozen=True)
class TableMemory:
    cache: Line
    memory: Line

    @classmethod
    def of(cls, points: FitPoints) -> TableMemory:
        return cls(fit_line(points.memory["emu_cache"]), fit_line(points.memory["emu"]))

    def entry_octets(self, memory: str) -> float:
        line = self.cache if memory == "emu_cache" else self.memory
        return line.percent_per_entry / 100 * SIZE_OCTETS[memory]

    def cache_entries(self) -> int:
        """Entries until the cache of the external memory is full."""
        return int((100 - self.cache.percent) / self.cache.percent_per_entry)

    def cache_tables(self) -> int:
        """Whole tables of 64 K that the cache holds."""
        return self.cache_entries() // TABLE_ENTRIES

    def entries(self) -> int:
        """Entries until memory or the number of tables ends, cached or not."""
        return min(int((100 - self.memory.percent) / self.memory.percent_per_entry), TABLE_ENTRIES * MOST_TABLES)
