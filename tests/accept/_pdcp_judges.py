"""What others say of our ciphers, PDCP and SDAP: implementations in Python, OpenSSL, a model that was written from the
specification, tshark, and the core dump of a program that held keys.
"""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

STEPS, SEEDS = 100_000, 3
CRYPTO = "tests/oracle/test_crypto.py"


def algorithms(report: Report) -> None:
    for name in ("nea1", "nea2", "nea3", "nia1", "nia2", "nia3"):
        judge(
            report,
            Mended(
                f"{name}_10000_cases",
                shows="lengths 0 to 9000, each alignment, bearer and direction",
                pytest=[f"{CRYPTO}::test_random_cases_agree_with_the_judge[{name}]"],
                environment={"SPLITPLANE_CRYPTO_CASES": "10000"},
            ),
        )
    judge(
        report,
        Mended(
            "own_vectors_and_mixed_bursts",
            shows="vectors of our own judges, bursts that mix algorithms",
            pytest=[
                f"{CRYPTO}::test_the_own_vectors_come_out",
                f"{CRYPTO}::test_bursts_that_mix_algorithms_agree_with_the_judges",
            ],
        ),
    )


def model(report: Report) -> None:
    """PDCP and SDAP entities, step by step, beside the model."""
    tool = ROOT / "build" / "release" / "tools" / "pdcp_tool"
    target = f"{SEEDS} seeds of {STEPS} steps agree"
    for kind in ("pdcp", "sdap"):
        say(f"{kind}: {target}")
        agree, took, words = 0, 0.0, ""
        for seed in range(1, SEEDS + 1):
            command = [
                "env",
                "-C",
                ROOT / "tests",
                PYTHON,
                "-m",
                "pdcp.comparison",
                "--kind",
                kind,
                "--seed",
                str(seed),
            ]
            status, output, seconds = run([*command, "--steps", str(STEPS), tool], 1200)
            agree, took = agree + (status == 0), took + seconds
            words = words or ("" if status == 0 else f"seed {seed}: {last_line(output)}")
        report.judge(f"{kind}_beside_the_model", f"{agree} seeds, {took:.0f} s", target, agree == SEEDS, words)
    judge(
        report,
        Mended(
            "model_finds_wrong_rules",
            shows="each of its rules, broken on purpose, is found",
            pytest=["tests/pdcp/test_comparison.py::test_the_comparison_finds_a_wrong_rule"],
        ),
    )


def secrets(report: Report) -> None:
    judge(
        report,
        Mended(
            "keys_stay_secret",
            shows="core dump, swap, printing, wiping",
            gtest="KeyStore.*:Secret.*",
        ),
    )


def items(report: Report) -> None:
    algorithms(report)
    model(report)
    secrets(report)
