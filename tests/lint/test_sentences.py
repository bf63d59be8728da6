"""The checker of sentences: what it counts, what it leaves out, and where it says a sentence stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sentences import MOST_WORDS, sentences

CHECKER = Path(__file__).with_name("sentences.py")


def texts(page: str) -> list[str]:
    return [sentence.text for sentence in sentences(page)]


def words(count: int) -> str:
    return " ".join(["word"] * count) + "."


def test_a_sentence_goes_on_over_lines_and_ends_at_its_full_stop():
    assert texts("One goes\non here. Two.\n") == ["One goes on here.", "Two."]


@pytest.mark.parametrize(
    "page",
    [
        "```\nSome code. More.\n```\n",
        "| a cell. | another. |\n|---|---|\n",
        "# A heading. With two\n",
        "\n    indented code. More.\n",
    ],
)
def test_code_tables_and_headings_are_not_judged(page):
    assert texts(page) == []


def test_text_behind_a_code_block_is_judged_again():
    assert texts("```\ncode.\n```\nText.\n\n    code.\n\nMore text.\n") == ["Text.", "More text."]


def test_a_list_item_ends_a_sentence_and_goes_on_when_indented():
    assert texts("Two things:\n\n- one\n  of them\n- the other\n") == ["Two things:", "one of them", "the other"]


def test_a_link_counts_as_its_text():
    (sentence,) = sentences("See [the page](docs/a-page.md#with-a-part) first.")
    assert (sentence.text, sentence.words) == ("See the page first.", 4)


def test_a_word_has_a_letter_or_a_digit():
    (sentence,) = sentences("`a: 1` - b -> c = 2\n")
    assert sentence.words == 5


@pytest.mark.parametrize(
    "text", ["It has 1,024, 512, ... COUNTs in 5.3.4 of `file.md`.", "By Kundel et al. in 2021.", "Some, e.g. two."]
)
def test_a_stop_inside_a_sentence_does_not_end_it(text):
    assert texts(text) == [text]


def test_the_line_is_where_the_sentence_begins():
    page = "# Head\n\nFirst line here.\nSecond\nsentence. Third.\n"
    assert [(s.line, s.text) for s in sentences(page)] == [
        (3, "First line here."),
        (4, "Second sentence."),
        (5, "Third."),
    ]


@pytest.mark.parametrize(("count", "code"), [(MOST_WORDS, 0), (MOST_WORDS + 1, 1)])
def test_it_fails_above_the_limit_and_names_the_line_and_the_longest(tmp_path, count, code):
    page = tmp_path / "page.md"
    page.write_text(f"# Head\n\nShort. {words(count)}\n")
    done = subprocess.run([sys.executable, CHECKER, page], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert (f"{page}:3: {count} words" in done.stdout) == (code == 1)
    assert done.stdout.splitlines()[-1] == f"{page}: 2 sentences, the longest has {count} words (line 3)"


def test_every_page_for_people_is_judged():
    done = subprocess.run([sys.executable, CHECKER], capture_output=True, text=True, check=False)
    named = {line.split(":")[0] for line in done.stdout.splitlines() if " the longest has " in line}
    assert {"README.md", "docs/README.md", "docs/limits.md", "docs/design/gtpu.md"} <= named
    assert not any(name.startswith("docs/results/") for name in named)
