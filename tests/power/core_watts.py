"""Watts of a machine by a profile of config/power, from the shares of the time that its cores spent in each state.

A second, smaller reading of such a file beside src/power/model, for machines that are not here. All of it is modelled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from steady import Steady

COEFFICIENTS = (
    "base_watts",
    "first_core_watts",
    "active_watts",
    "pause_share",
    "tpause_watts",
    "c1_watts",
    "c6_watts",
    "second_thread_watts",
)
FACTORS = (0.5, 2.0)  # the band
LEAST_VOLTS = 0.3  # of the nominal voltage


@dataclass(frozen=True)
class Core:
    """Shares of the time; `running` by MHz: in C0 and in PAUSE."""

    package: int
    running: tuple[tuple[float, float, float], ...]
    tpause: float
    c1: float
    c6: float

    @classmethod
    def of(cls, package: int, run: Steady, fastest_mhz: float, slowest: float) -> Core:
        """Of a replayed one. The replay prints the shares of states and those of P-states and not both together, so
        each state is taken to have the same mix of P-states."""
        last = len(run.p_states) - 1
        speeds = [1 - (1 - slowest) * number / last if last else 1.0 for number in range(last + 1)]
        asleep = ("pause", "tpause", "sleep_c1", "sleep_c6")
        active = sum(share for state, share in run.residency.items() if state not in asleep)
        running = tuple(
            (fastest_mhz * speed, active * share, run.residency["pause"] * share)
            for speed, share in zip(speeds, run.p_states, strict=True)
        )
        return cls(package, running, *(run.residency[state] for state in asleep[1:]))


@dataclass(frozen=True)
class Profile:
    values: dict[str, float]
    volts: tuple[tuple[float, float], ...]  # by MHz, ascending; none: it has no P-states
    nominal_mhz: float
    leakage_watts: float
    assumed: tuple[str, ...]
    text: dict = field(hash=False, compare=False)

    @classmethod
    def load(cls, path: Path) -> Profile:
        tree = yaml.safe_load(path.read_text())
        states = tree.get("p_states", {})
        volts = tuple((row["mhz"], row["volts"]) for row in states.get("volts", ()))
        values = {name: float(tree.get(name, math.nan)) for name in COEFFICIENTS}
        nominal, leakage = states.get("nominal_mhz", 0.0), states.get("leakage_watts", 0.0)
        return cls(values, volts, nominal, leakage, tuple(tree["assumed"]), tree)

    @property
    def fastest_mhz(self) -> float:
        return self.volts[-1][0]

    def volts_at(self, mhz: float) -> float:
        for (low, under), (high, over) in zip(self.volts, self.volts[1:], strict=False):
            if low - 1e-6 <= mhz <= high + 1e-6:
                return under + (over - under) * (mhz - low) / (high - low)
        raise ValueError(f"{mhz:.0f} MHz; the profile is of {self.volts[0][0]} to {self.volts[-1][0]}")

    def active_watts(self, mhz: float) -> float:
        if not self.volts:
            return self.values["active_watts"]
        volts = self.volts_at(mhz) / self.volts_at(self.nominal_mhz)
        clocked = (self.values["active_watts"] - self.leakage_watts) * mhz / self.nominal_mhz
        return self.leakage_watts * volts + clocked * volts * volts

    def core_watts(self, core: Core) -> float:
        """More than in a machine whose cores are all in C6."""
        values = self.values
        watts = sum(
            share * values[name]
            for share, name in ((core.tpause, "tpause_watts"), (core.c1, "c1_watts"), (core.c6, "c6_watts"))
            if share > 0
        )
        for mhz, active, pause in core.running:
            if active + pause > 0:
                watts += (active + pause * values["pause_share"]) * self.active_watts(mhz)
        return watts

    def package_watts(self, cores: Sequence[Core]) -> float:
        """Of one package. Its cores sleep independently of each other."""
        awake = 1 - math.prod(min(1.0, core.c6) for core in cores)
        return awake * self.values["first_core_watts"] + sum(self.core_watts(core) for core in cores)

    def watts(self, cores: Sequence[Core]) -> float:
        packages = {core.package for core in cores}
        each = (self.package_watts([core for core in cores if core.package == package]) for package in packages)
        return self.values["base_watts"] + sum(each)

    def variants(self) -> Iterator[tuple[str, Profile]]:
        """The band: each assumed coefficient halved and doubled, one at a time and all at once."""
        for factor in FACTORS:
            for names in [(name,) for name in self.assumed] + [self.assumed]:
                what = names[0] if len(names) == 1 else "all"
                yield f"{what} x{factor:g}", self._scaled(names, factor)

    def _scaled(self, names: Sequence[str], factor: float) -> Profile:
        """PAUSE takes no more than work, and leakage is a part of the whole."""
        values = {name: value * factor if name in names else value for name, value in self.values.items()}
        values["pause_share"] = min(1.0, values["pause_share"])
        leakage = self.leakage_watts * (factor if "leakage_watts" in names else 1)
        volts = self.volts
        if "volts" in names and volts:
            nominal = self.volts_at(self.nominal_mhz)
            volts = tuple((mhz, max(LEAST_VOLTS * nominal, nominal + factor * (each - nominal))) for mhz, each in volts)
        return replace(self, values=values, leakage_watts=min(leakage, values["active_watts"]), volts=volts)
