"""A many-threaded SmartNIC: engines whose threads hide the latency of memory, and what each feature set asks of them.

An engine executes one thread at a time. A thread that waits for memory gives the engine away. So a packet that costs C
cycles of execution and W cycles of waiting bounds the card twice: engines x clock / C, and threads x clock / (C + W).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Memory:
    """A memory of the card: cycles until a thread has its data, least and most."""

    least: int
    most: int

    @property
    def middle(self) -> float:
        return (self.least + self.most) / 2


# Latencies in engine cycles, as tabled for the NFP-4000 by github.com/AnterCreeper/smartnic-doc (commit 0b785c2,
# chapter 2, case study of the Agilio). It names FlexTOE (NSDI 2022) and Cora (arXiv 2410.22229) as sources, which were
# not at hand. It gives EMEM the latency of internal memory, which can only hold for what lies in EMEM's cache.
LMEM, CTM, EMEM = Memory(1, 3), Memory(50, 100), Memory(150, 250)


@dataclass(frozen=True)
class Machine:
    """P4 paper, section V.A: Agilio CX 2x40G, 60 micro-engines of 800 MHz with 8 threads. Engines and threads also in
    Netronome/nic-firmware, docs/user-guide/01_Architecture.rst."""

    engines: int = 60
    threads: int = 8
    clock_mhz: float = 800.0
    line_gbps: float = 40.0  # what the paper's generator offers
    packet_octets: int = 128

    @property
    def cycles_per_us(self) -> float:
        """Engine cycles of the whole card in a microsecond."""
        return self.engines * self.clock_mhz

    @property
    def line_mpps(self) -> float:
        """Without preamble and gap: with them the paper's 39 Mpps would not fit into 40 Gbit/s."""
        return self.line_gbps * 1e3 / (8 * self.packet_octets)


@dataclass(frozen=True)
class Work:
    """What a packet asks of the card: how often each of the costs below is paid. Counted, not fitted."""

    passes: int = 0
    writes: int = 0
    lookups: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.passes + other.passes, self.writes + other.writes, self.lookups + other.lookups)

    @property
    def waiting_cycles(self) -> float:
        """A pass reads the headers from CTM and writes them back; a write goes to LMEM; a lookup reads a bucket and the
        action's data from EMEM."""
        return self.passes * 2 * CTM.middle + self.writes * LMEM.middle + self.lookups * 2 * EMEM.middle


# A pass: a packet enters, Ethernet is parsed, it is sent. A write: a field of a new header, or a header's validity.
# A lookup: a table of many entries, or the choice of a VF.
FORWARD = Work(passes=1)
REMOVED = Work(writes=3)  # IPv4, UDP, GTP-U become invalid
PUSHED = Work(writes=14)  # SDAP 3 fields, PDCP 3, RLC AM 5 with 18-bit SNs (TS 37.324, 38.323, 38.322); 3 become valid
BEARER = Work(lookups=1)  # the table of 64 K entries
SECOND = Work(passes=1)  # the clone enters the pipeline as a packet of its own
TO_VF = Work(lookups=1)  # and is given to one of the VFs
FEATURES: dict[str, Work] = {
    "l2fwd": FORWARD,
    "decap": FORWARD + REMOVED,
    "headers": FORWARD + REMOVED + PUSHED,
    "mat": FORWARD + REMOVED + PUSHED + BEARER,
    "clone_drop": FORWARD + REMOVED + PUSHED + BEARER + SECOND,
    "clone": FORWARD + REMOVED + PUSHED + BEARER + SECOND + TO_VF,
}
# P4Wire: its table has an entry a port, so no lookup counts.
TO_HOST = FORWARD
THROUGH_HOST = FORWARD + FORWARD  # PF to VF, and VF to PF


@dataclass(frozen=True)
class Costs:
    """The three free parameters, in cycles of an engine."""

    a_pass: float
    a_write: float
    a_lookup: float

    def cycles(self, work: Work) -> float:
        return work.passes * self.a_pass + work.writes * self.a_write + work.lookups * self.a_lookup


@dataclass(frozen=True)
class Card:
    machine: Machine
    costs: Costs

    def engine_bound(self, work: Work) -> float:
        """Mpps."""
        return self.machine.cycles_per_us / self.costs.cycles(work)

    def thread_bound(self, work: Work) -> float:
        """Mpps: all threads taken by packets that execute or wait."""
        return self.machine.cycles_per_us * self.machine.threads / (self.costs.cycles(work) + work.waiting_cycles)

    def mpps(self, work: Work) -> float:
        return min(self.machine.line_mpps, self.engine_bound(work), self.thread_bound(work))

    def bound_by(self, work: Work) -> str:
        bounds = {
            "line": self.machine.line_mpps,
            "engines": self.engine_bound(work),
            "threads": self.thread_bound(work),
        }
        return min(bounds, key=lambda name: bounds[name])
