"""Prints what the demo does while it does it, and the table at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from checks import Checks

COLOUR = sys.stdout.isatty()


def paint(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if COLOUR else text


class Progress:
    """One line per step: seconds since the start, and what happens now."""

    def __init__(self):
        self.start = time.monotonic()

    def __call__(self, text: str):
        print(f"{paint(f'[{time.monotonic() - self.start:5.1f} s]', '2')} {text}", flush=True)


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]):
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(head, *cells, strict=True)]
    print(f"\n{paint(title, '1')}")
    print(paint("  " + "  ".join(text.ljust(width) for text, width in zip(head, widths, strict=True)).rstrip(), "2"))
    for row in cells:
        print("  " + "  ".join(_cell(text, width) for text, width in zip(row, widths, strict=True)).rstrip())


def _cell(text: str, width: int) -> str:
    numeric = text.replace(".", "").replace(",", "").replace("-", "").isdigit()
    return text.rjust(width) if numeric else text.ljust(width)


def stage_rows(stats: dict, seconds: float | None = None) -> list[list[object]]:
    """A row per stage that saw packets; with the length of the run also packets per second."""
    rows = []
    for worker in stats["workers"]:
        for stage in worker["stages"]:
            if stage["packets"]:
                cycles = stage.get("cycles_per_packet")
                rows.append(
                    [
                        worker["name"],
                        stage["name"],
                        stage["packets"],
                        f"{stage['packets'] / seconds * 1e-6:.2f}" if seconds else "-",
                        f"{cycles:.1f}" if cycles else "-",
                    ]
                )
    return rows


def between(before: dict, after: dict) -> dict:
    """Counters of the time between two looks at a running instance: the packets; cycles per packet stay as they are."""
    then = {worker["name"]: worker for worker in before["workers"]}
    workers = []
    for worker in after["workers"]:
        old = then[worker["name"]]
        packets = {stage["name"]: stage["packets"] for stage in old["stages"]}
        workers.append(
            worker
            | {key: worker[key] - old[key] for key in ("transmitted", "cpu_cycles")}
            | {
                "stages": [
                    stage | {"packets": stage["packets"] - packets.get(stage["name"], 0)} for stage in worker["stages"]
                ]
            }
        )
    return {"workers": workers, "tsc_hz": after["tsc_hz"]}


STAGE_HEAD = ("worker", "stage", "packets", "Mpps", "cycles/packet")


def drop_rows(instance: str, stats: dict) -> list[list[object]]:
    return [
        [instance, worker["name"], reason, count]
        for worker in stats["workers"]
        for reason, count in worker["drops"].items()
        if count
    ]


def verdicts(checks: Checks):
    print(f"\n{paint('Checks', '1')}")
    for check in checks.done:
        mark = paint("pass", "32") if check.passed else paint("FAIL", "1;31")
        print(f"  {mark}  {check.name}: {check.measured}")
