"""The lines that `make accept` prints, one a requirement: name, measured, target, verdict, reason.

A part collects its items in a Report and ends with `return report.exit_code()`; run_modules does it for a part whose
items are in several modules.
"""

import importlib
import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Verdict = Literal["pass", "short", "skipped"]


@dataclass(frozen=True)
class Item:
    name: str
    measured: str
    target: str
    verdict: Verdict
    reason: str = ""

    def line(self) -> str:
        return (
            f"{_word(self.name)} measured={_word(self.measured)} target={_word(self.target)} "
            f"verdict={self.verdict} reason={' '.join(self.reason.split()) or '-'}"
        )


class Report:
    """Prints each item as soon as it is judged, so that a run that is cut off still shows what it found."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def judge(self, name: str, measured: object, target: str, met: bool, reason: str = "") -> None:
        """Pass or short. A shortfall must say why."""
        if not met and not reason:
            raise ValueError(f"{name} is short and gives no reason")
        self._add(Item(name, str(measured), target, "pass" if met else "short", reason))

    def at_most(self, name: str, measured: float, limit: float, unit: str = "", reason: str = "") -> None:
        text = reason or (f"{measured - limit:.4g}{unit} above the target" if measured > limit else "")
        self.judge(name, f"{measured:.4g}{unit}", f"<={limit:.4g}{unit}", measured <= limit, text)

    def at_least(self, name: str, measured: float, limit: float, unit: str = "", reason: str = "") -> None:
        text = reason or (f"{limit - measured:.4g}{unit} below the target" if measured < limit else "")
        self.judge(name, f"{measured:.4g}{unit}", f">={limit:.4g}{unit}", measured >= limit, text)

    def skip(self, name: str, target: str, reason: str) -> None:
        """For what cannot be measured on this machine; the reason says what is missing."""
        if not reason:
            raise ValueError(f"{name} is skipped and gives no reason")
        self._add(Item(name, "none", target, "skipped", reason))

    def exit_code(self) -> int:
        """0 when every item passed or was skipped; 1 when one fell short or nothing was judged at all."""
        return 1 if not self.items or any(item.verdict == "short" for item in self.items) else 0

    def _add(self, item: Item) -> None:
        if any(other.name == item.name for other in self.items):
            raise ValueError(f"{item.name} is judged twice")
        self.items.append(item)
        print(item.line(), flush=True)


def _word(text: str) -> str:
    """Fields but the last hold no blanks, so that a line can be split by a script."""
    return "_".join(text.split()) or "-"


def run_modules(part: str, needs_root_for: str = "") -> int:
    """Calls items(report) of each module _PART_*.py beside this file, by name. needs_root_for: nothing if empty."""
    report = Report()
    if needs_root_for and os.geteuid() != 0:
        report.skip("all", "-", f"needs root: {needs_root_for}")
        return 1
    for path in sorted(Path(__file__).parent.glob(f"_{part}_*.py")):
        try:
            importlib.import_module(path.stem).items(report)
        except Exception as failed:  # what one module needs and did not get must not hide the others
            traceback.print_exc()
            name = f"{path.stem.removeprefix('_')}_to_its_end"
            report.judge(name, type(failed).__name__, "every item judged", False, str(failed)[:160] or "-")
    return report.exit_code()
