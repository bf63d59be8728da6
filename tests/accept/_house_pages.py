"""Words of the README, and the longest sentence of each page, as lint counts them."""

from __future__ import annotations

import re

from _tools import PYTHON, ROOT, run
from report import Report

MOST_WORDS, MOST_IN_A_SENTENCE = 600, 25


def items(report: Report) -> None:
    words = len((ROOT / "README.md").read_text().split())
    report.at_most("readme_words", words, MOST_WORDS)
    drawing = re.findall(r"\((\S+\.svg)\)", (ROOT / "README.md").read_text())
    there = [name for name in drawing if (ROOT / name).exists()]
    report.judge("readme_drawing", " ".join(there), "an SVG in the tree", bool(there), "" if there else "none is named")
    code, output, _ = run([PYTHON, ROOT / "tests" / "lint" / "sentences.py"], 60)
    pages = re.findall(r"^(\S+): \d+ sentences, the longest has (\d+) words", output, re.MULTILINE)
    longest = max((int(count) for _, count in pages), default=0)
    report.judge(
        "longest_sentence",
        f"{longest} words, {len(pages)} pages",
        f"<={MOST_IN_A_SENTENCE}",
        code == 0 and 0 < longest <= MOST_IN_A_SENTENCE,
        ", ".join(f"{page} {count}" for count, page in pages),
    )
