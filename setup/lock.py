"""Resolves setup/requirements*.in for Python 3.11 and 3.12 and writes requirements*.txt beside them, pinned and hashed.

Run it by hand when a version is to move: .venv/bin/python setup/lock.py [requirements-gpu.in]
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PYTHONS = ("3.11", "3.12")


def resolve(source: Path, python: str) -> dict[str, tuple[str, str]]:
    """Name -> (version, sha256 of the wheel that pip would install on x86-64 Linux with that Python)."""
    environment = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"}
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
            + ["--only-binary=:all:", "--python-version", python, "--target", scratch, "--report", str(report)]
            + ["-r", str(source)],
            check=True,
            env=environment,
        )
        installs = json.loads(report.read_text())["install"]
    return {
        item["metadata"]["name"].lower().replace("_", "-"): (
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in installs
    }


def lock(source: Path) -> None:
    resolved = [resolve(source, python) for python in PYTHONS]
    lines = [
        f"# Made by setup/lock.py from {source.name} for Python 3.11 and 3.12 on x86-64 Linux: do not edit.",
        "",
    ]
    for name in sorted(set().union(*resolved)):
        found = [each[name] for each in resolved if name in each]
        if len({version for version, _ in found}) != 1:
            sys.exit(f"{name} resolves to different versions: {found}")
        hashes = sorted({digest for _, digest in found})
        lines.append(f"{name}=={found[0][0]} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{digest}" for digest in hashes))
    source.with_suffix(".txt").write_text("\n".join(lines) + "\n")
    print(f"setup/{source.stem}.txt: {len(set().union(*resolved))} packages")


def main() -> None:
    for source in [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("requirements*.in")):
        lock(source)


if __name__ == "__main__":
    main()
