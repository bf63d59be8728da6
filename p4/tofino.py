"""Reads what p4c-barefoot says of a program's resources (`-g`: pipe/logs/resources.json and phv.json), as a text."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Resource:
    """A column: where a stage's part of the report has it, and how many of it a stage has."""

    name: str
    part: str
    used: str
    there: tuple[str, ...]  # the product of these is what there is


RESOURCES = (
    Resource("tables", "logical_tables", "ids", ("size",)),
    Resource("gateways", "gateways", "gateways", ("nRows", "nUnits")),
    Resource("SRAM", "rams", "srams", ("nRows", "nColumns")),
    Resource("map RAM", "map_rams", "maprams", ("nRows", "nUnits")),
    Resource("TCAM", "tcams", "tcams", ("nRows", "nColumns")),
    Resource("stateful ALUs", "meter_alus", "meters", ("nAlus",)),
    Resource("counter ALUs", "statistic_alus", "stats", ("nAlus",)),
    Resource("VLIW", "vliw", "instructions", ("size",)),
    Resource("hash distribution", "hash_distribution_units", "units", ("nHashIds", "nUnitIds")),
)


def used(stage: dict, resource: Resource) -> int:
    return len(stage[resource.part][resource.used])


def there(stage: dict, resource: Resource) -> int:
    count = 1
    for word in resource.there:
        count *= stage[resource.part][word]
    return count


def stages_table(mau: dict) -> list[str]:
    """A line for each stage, and their sums; the first line says how many a stage has."""
    stages = mau["mau_stages"]
    rows = [["stage", *(resource.name for resource in RESOURCES)]]
    rows.append(["each has", *(str(there(stages[0], resource)) for resource in RESOURCES)])
    rows += [[str(stage["stage_number"]), *(str(used(stage, resource)) for resource in RESOURCES)] for stage in stages]
    sums = [
        f"{sum(used(stage, resource) for stage in stages)} of {mau['nStages'] * there(stages[0], resource)}"
        for resource in RESOURCES
    ]
    rows.append(["all", *sums])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def tables_of_stages(mau: dict) -> list[str]:
    lines = []
    for stage in mau["mau_stages"]:
        names = [entry["table_name"].removeprefix("GnbControl.") for entry in stage["logical_tables"]["ids"]]
        lines.append(f"{stage['stage_number']:>5}: {', '.join(dict.fromkeys(names))}")
    return lines


def bits_in_use(container: dict) -> int:
    """Fields that are overlaid count once."""
    ranges = [part["slice_info"] for part in container["slices"]]
    return len({bit for one in ranges for bit in range(one["lsb"], one["msb"] + 1)})


def phv_table(containers: dict, phv: dict) -> list[str]:
    lines = []
    for kind, groups in containers.items():
        for group in groups:
            form = (kind, group["width"])
            mine = [one for one in phv["containers"] if (one["container_type"], one["bit_width"]) == form]
            mine = [one for one in mine if one["slices"]]
            lines.append(
                f"{kind} containers of {group['width']} bits: {len(mine)} of {group['units']}, "
                f"{sum(bits_in_use(one) for one in mine)} of {group['units'] * group['width']} bits"
            )
    return lines


def resources_text(resources: dict, phv: dict) -> str:
    mau = resources["resources"]["mau"]
    last = mau["mau_stages"][-1]["stage_number"] + 1
    lines = [f"{last} of {mau['nStages']} stages", "", *stages_table(mau), ""]
    lines += [
        *phv_table(resources["resources"]["phv_containers"], phv),
        "",
        "tables of each stage",
        *tables_of_stages(mau),
    ]
    return "\n".join(lines)


def report_of(folder: Path) -> str:
    """Of what `p4c-barefoot -g -o folder` left."""
    logs = folder / "pipe" / "logs"
    return resources_text(*(json.loads((logs / name).read_text()) for name in ("resources.json", "phv.json")))
