"""`.venv/bin/python -m lab.model`: the model's predictions beside the papers' points; --json for a program."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table

from lab import papers
from lab.model.card import FEATURES
from lab.model.predict import Model, Row, make_model, rows

OFFLOADS = tuple(tenth / 10 for tenth in range(11))
CORES = (1, 2, 4, 8)


def as_json(model: Model, found: list[Row]) -> dict:
    """Everything that the tables show, and the parameters."""
    return {
        "modelled": True,
        "parameters_cycles": vars(model.card.costs),
        "host": {"scale": model.host.scale, "own_cycles": vars(model.host.own)},
        "memory": {
            "entry_octets_cache": model.memory.entry_octets("emu_cache"),
            "entry_octets_memory": model.memory.entry_octets("emu"),
            "entries_in_cache": model.memory.cache_entries(),
            "tables_of_64k_in_cache": model.memory.cache_tables(),
            "entries": model.memory.entries(),
        },
        "split_mpps": [
            {
                "offload": offload,
                "cores": cores,
                "mpps": model.split(offload, cores),
                "resource_bound_mpps": model.resource_bound(offload, cores),
            }
            for offload in OFFLOADS
            for cores in CORES
        ],
        "rows": [
            {
                "figure": row.point.figure,
                "x": row.point.label,
                "paper": row.point.value,
                "unit": row.point.unit,
                "stated": row.point.stated,
                "bound": row.point.at.get("bound"),
                "predicted": row.predicted,
                "error_percent": row.error_percent,
                "holds": row.holds,
                "kind": row.kind,
            }
            for row in found
        ],
    }


def points_table(found: list[Row]) -> Table:
    table = Table(title="Modelled, beside the papers' points")
    for name in ("figure", "x", "paper", "modelled", "error", "kind"):
        right = name in ("paper", "modelled", "error")
        table.add_column(name, justify="right" if right else "left", no_wrap=name != "x")
    for row in found:
        if row.holds is None:
            paper, error = f"{row.point.value:g} {row.point.unit}", f"{row.error_percent:+.1f} %"
        else:
            paper = f"most of {row.point.value:g} {row.point.unit}"
            error = "holds" if row.holds else "does not hold"
        table.add_row(row.point.figure, row.point.label, paper, f"{row.predicted:.2f}", error, row.kind)
    return table


def split_table(model: Model) -> Table:
    table = Table(title="Modelled Mpps by share of packets that the host serves (Fig. 9)")
    for name in ("offload", *(f"{cores} core{'s' if cores > 1 else ''}" for cores in CORES)):
        table.add_column(name, justify="right")
    for offload in OFFLOADS:
        table.add_row(f"{100 * offload:.0f} %", *(f"{model.split(offload, cores):.2f}" for cores in CORES))
    return table


def bound_sentence(model: Model) -> str:
    """How far the form of the split, which the paper's sentence chose, is from what the resources would allow."""
    splits = [(offload, cores) for offload in OFFLOADS for cores in CORES]
    above_split = max(model.resource_bound(*split) / model.split(*split) for split in splits)
    above_ends = max(
        model.resource_bound(offload, cores) / max(model.split(0, cores), model.split(1, cores))
        for offload, cores in splits
    )
    return (
        f"A split that used engines and cores to their ends at once would do up to {100 * (above_split - 1):.0f} % "
        f"more, and up to {100 * (above_ends - 1):.0f} % more than the better end. The paper says that no split did."
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.model", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    options = parser.parse_args()
    points = papers.load()
    model = make_model(points)
    found = rows(model, points)
    if options.json:
        print(json.dumps(as_json(model, found), indent=1))
        return 0
    console, costs, memory = Console(), model.card.costs, model.memory
    console.print(points_table(found))
    console.print(split_table(model))
    console.print(
        f"Fitted to Fig. 7, engine cycles: a pass {costs.a_pass:.0f}, a write {costs.a_write:.0f}, a lookup "
        f"{costs.a_lookup:.0f}. Bound of each feature set: "
        + ", ".join(f"{name} {model.card.bound_by(work)}" for name, work in FEATURES.items())
        + "."
    )
    console.print(
        f"Table I: an entry takes {memory.entry_octets('emu_cache'):.0f} octets of the cache and "
        f"{memory.entry_octets('emu'):.0f} of the memory; the cache holds {memory.cache_entries()} entries "
        f"({memory.cache_tables()} tables of 64 K), the memory {memory.entries()}."
    )
    console.print(bound_sentence(model))
    console.print(
        f"Host: {model.host.own.source}, times {model.host.scale:.1f} for the paper's machine (anchor: Fig. 8, clone)."
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
