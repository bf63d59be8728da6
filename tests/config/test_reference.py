"""config/schema.json and the tables of keys in the docs are what the rows of the sources say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "config"))

import generate  # noqa: E402


def test_schema_and_docs_are_what_the_rows_say(splitplane):
    for file, text in generate.generated(splitplane).items():
        assert file.read_text() == text, f"{file.relative_to(ROOT)}: `make reference` writes it"


def test_a_key_more_is_written_where_it_belongs_and_nothing_else_changes(splitplane):
    rows = generate.keys(splitplane)
    rows["bearers"]["properties"]["colour"] = {"enum": ["red"], "description": "Its colour."}
    old, new = generate.SCHEMA.read_text(), generate.new_schema(generate.SCHEMA.read_text(), rows)
    added = set(new.splitlines()) - set(old.splitlines())
    assert '        "colour": {"enum": ["red"], "description": "Its colour."}' in added
    assert len(added) == 2  # the line before it has a comma now
    expected = json.loads(old)
    expected["$defs"]["bearers"]["properties"]["colour"] = rows["bearers"]["properties"]["colour"]
    assert json.loads(new) == expected


def test_a_page_that_rows_name_must_be_there():
    with pytest.raises(SystemExit, match="no-such-page.md"):
        generate.link_from(ROOT / "docs" / "configuration.md", "no-such-page.md")
