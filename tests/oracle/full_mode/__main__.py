"""Judges a capture: python tests/oracle/full_mode CAPTURE --bearers LIST.json --keys FILE [--json] [--packets]

LIST.json is what `splitplane ctl --json bearer list` prints; give several, if bearers came and went. The exit code is 1
if a counter says that a rule was broken, or if no packet was found.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from full_mode import read_bearers, read_blocks, read_keys, walk  # noqa: E402
from full_mode.report import WAY  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--bearers", type=Path, action="append", required=True)
    parser.add_argument("--keys", type=Path, required=True)
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument("--packets", action="store_true", help="each inner packet in a line")
    arguments = parser.parse_args()
    report = walk(read_blocks(arguments.capture), read_bearers(arguments.bearers), read_keys(arguments.keys))
    if arguments.packets:
        for one in report.packets:
            qfi = "-" if one.qfi is None else one.qfi
            where = f"{one.frame} {one.time:.6f} {WAY[one.direction]} rnti {one.rnti} lcid {one.lcid}"
            print(f"{where} count {one.count} qfi {qfi} {one.ip.summary()}")
    print(json.dumps(report.to_json(), indent=1) if arguments.json else report.to_text())
    return 0 if report.packets and not report.faults() else 1


if __name__ == "__main__":
    sys.exit(main())
