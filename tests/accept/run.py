"""`make accept PART=name`: runs main() of tests/accept/name.py, which prints one line a requirement (report.py).

`run.py --known name` only says whether there is such a part, before anything is built for it.
"""

import importlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_PARTS = {"run", "report"}


def available() -> list[str]:
    """A part is a module here whose name is one word and is not ours or a test."""
    names = {path.stem for path in HERE.glob("*.py")} - NOT_PARTS
    return sorted(name for name in names if not name.startswith(("_", "test_")) and name != "conftest")


def main(arguments: list[str]) -> int:
    only_ask = arguments[:1] == ["--known"]
    arguments = arguments[only_ask:]
    parts = available()
    listed = ", ".join(parts) if parts else "none yet"
    if len(arguments) != 1:
        print(f"accept: name one part: make accept PART=...; there are: {listed}", file=sys.stderr)
        return 2
    if arguments[0] not in parts:
        print(f"accept: there is no part '{arguments[0]}'; there are: {listed}", file=sys.stderr)
        return 2
    if only_ask:
        return 0
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    sys.path.append(str(HERE.parent.parent))  # for the lab
    begin = time.monotonic()
    status = importlib.import_module(arguments[0]).main()
    verdict = "every item passed or was skipped" if status == 0 else "at least one item is short"
    print(f"accept: {arguments[0]}: {verdict}, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
