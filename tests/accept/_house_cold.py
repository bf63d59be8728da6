"""Cold builds in an empty clone without a compiler cache. SPLITPLANE_COLD=1 asks for the build of `make demo`, minutes;
SPLITPLANE_COLD=ci for the whole of .ci/run, too (half an hour and more).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from _tools import ROOT, last_line, run, say
from report import Report

DEMO_SECONDS, CI_SECONDS = 300, 2100
COLD = {"CCACHE_DISABLE": "1"}
LOG = ROOT / "build" / "log" / "accept-cold-ci.log"


def clone(folder: Path) -> Path:
    tree = folder / "splitplane"
    run(["git", "clone", "--quiet", "--local", ROOT, tree], 60)
    return tree


def items(report: Report) -> None:
    asked = os.environ.get("SPLITPLANE_COLD", "")
    cores = os.cpu_count() or 0
    if asked not in ("1", "ci"):
        report.skip("cold_demo_build", f"<={DEMO_SECONDS}s", "SPLITPLANE_COLD=1 asks for it")
        report.skip("cold_ci", f"<={CI_SECONDS}s", "SPLITPLANE_COLD=ci asks for it")
        return
    with tempfile.TemporaryDirectory(prefix="splitplane-cold-") as name:
        tree = clone(Path(name))
        say("the build of make demo without a cache, minutes")
        code, output, seconds = run([tree / "setup" / "build.sh", "release", "splitplane"], 1800, **COLD)
        if code != 0:
            report.judge("cold_demo_build", f"exit {code}", f"<={DEMO_SECONDS}s", False, last_line(output))
        else:
            report.at_most(
                "cold_demo_build", seconds, DEMO_SECONDS, "s", f"{cores} cores" if seconds <= DEMO_SECONDS else ""
            )
    if asked != "ci":
        report.skip("cold_ci", f"<={CI_SECONDS}s", "SPLITPLANE_COLD=ci asks for it")
        return
    with tempfile.TemporaryDirectory(prefix="splitplane-cold-") as name:
        say(".ci/run without a cache, half an hour and more")
        code, output, seconds = run([clone(Path(name)) / ".ci" / "run"], 5400, **COLD)
        LOG.parent.mkdir(parents=True, exist_ok=True)
        LOG.write_text(output)
        why = last_line(output) if code == 0 else f"exit {code}: the end of {LOG.relative_to(ROOT)} says what failed"
        report.judge("cold_ci", f"{seconds:.0f} s", f"<={CI_SECONDS}s", code == 0 and seconds <= CI_SECONDS, why)
