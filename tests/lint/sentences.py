"""The longest sentence of each page, and lint for those above 25 words: README.md, CONTRIBUTING.md and docs/.

A word is what stands between blanks and has a letter or a digit, in `code` as well. Not judged are code blocks, tables,
headings, and docs/results, which the bench writes. A list item, and a line that ends before a block, ends a sentence.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_WORDS = 25

FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*([-*+]|\d+\.)\s+")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# A full stop, not of an ellipsis or abbreviation, with what closes behind it, then a blank.
END = re.compile(r"(?<!\.\.)(?<!\bal)(?<!\be\.g)(?<!\bi\.e)[.!?][)\]*_\"'`]*(?=\s)")
WORD = re.compile(r"\S*\w\S*")


@dataclass(frozen=True)
class Sentence:
    line: int  # where it begins
    text: str

    @property
    def words(self) -> int:
        return len(WORD.findall(self.text))


def paragraphs(page: str) -> Iterator[list[tuple[int, str]]]:
    """Lines that belong together, with their numbers: no code, no tables, no headings."""
    together: list[tuple[int, str]] = []
    fenced = after_blank = in_list = False
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.match(line) is not None
        item = ITEM.match(line)
        indented = line.startswith("    ") and after_blank and not item and not in_list
        in_text = not (fenced or fence or indented or not line.strip() or line.lstrip().startswith(("|", "#", "<")))
        if together and (not in_text or item):
            yield together
            together = []
        if in_text:
            together.append((number, line[item.end() :] if item else line))
            in_list = item is not None or (in_list and (not after_blank or line.startswith(" ")))
        fenced ^= fence
        after_blank = not line.strip() or (after_blank and indented)
    if together:
        yield together


def sentences(page: str) -> Iterator[Sentence]:
    for lines in paragraphs(page):
        text, starts = "", []
        for number, line in lines:
            starts.append((len(text), number))
            text += line.strip() + " "
        begin = 0
        for end in [match.end() for match in END.finditer(text)] + [len(text)]:
            words = text[begin:end]
            place = begin + len(words) - len(words.lstrip())
            if words.strip():
                line = max((offset, number) for offset, number in starts if offset <= place)[1]
                yield Sentence(line, " ".join(LINK.sub(r"\1", words).split()))
            begin = end


def pages() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    return sorted(page for page in found if "results" not in page.relative_to(ROOT).parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="Markdown files; none: README, CONTRIBUTING and docs/")
    failed = False
    for page in parser.parse_args().pages or pages():
        name = page.resolve().relative_to(ROOT) if page.resolve().is_relative_to(ROOT) else page
        found = list(sentences(page.read_text()))
        for sentence in found:
            if sentence.words > MOST_WORDS:
                failed = True
                print(f"{name}:{sentence.line}: {sentence.words} words, {MOST_WORDS} at most: {sentence.text}")
        longest = max(found, key=lambda sentence: sentence.words, default=Sentence(1, ""))
        print(f"{name}: {len(found)} sentences, the longest has {longest.words} words (line {longest.line})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
