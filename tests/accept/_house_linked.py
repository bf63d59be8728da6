"""Inline functions of the packet path that rooms of the control side instantiate, too. The linker keeps one copy of
each, maybe the one that was compiled for a short build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from _tools import ROOT, run
from report import Report

BUILD = ROOT / "build" / "release"
WEAK = re.compile(r"^[0-9a-f]+ [0-9a-f]+ W (splitplane::(?:datapath|ran|wire|nic)::.*)", re.MULTILINE)
HARMLESS = re.compile(r"::~(EalSettings|SpecFile)\(")  # told by hand: of what is read at the start


def objects() -> Iterator[tuple[str, Path]]:
    """Room and object file of each production source, or of several that were compiled at once."""
    for row in (ROOT / "src" / "rooms.txt").read_text().splitlines():
        room = row.partition(":")[0]
        if not row.startswith("#"):
            for made in (BUILD / "CMakeFiles" / f"{room.replace('/', '_')}.dir").rglob("*.o"):
                yield room, made


def items(report: Report) -> None:
    rows = (ROOT / "src" / "rooms.txt").read_text().splitlines()
    control_side = {row.partition(":")[0] for row in rows if row.endswith("| control side")}
    found: dict[bool, dict[str, str]] = {True: {}, False: {}}
    for room, made in objects():
        _, listing, _ = run(["nm", "-C", "-S", made], 60)
        found[room in control_side].update(dict.fromkeys(WEAK.findall(listing), f"{room}/{made.name}"))
    both = {name: found[True][name] for name in found[True].keys() & found[False].keys() if not HARMLESS.search(name)}
    words = "; ".join(f"{name.partition('(')[0]} in {place}" for name, place in sorted(both.items()))
    report.judge(
        "packet_path_functions_on_the_control_side",
        f"{len(both)} of {len(found[False])}",
        "0",
        bool(found[False]) and not both,
        words[:400] or ("" if found[False] else "nothing is built"),
    )
