"""The pages for people: the README stays short, its links lead somewhere, and its make targets are there."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_readme_has_at_most_600_words():
    assert len((ROOT / "README.md").read_text().split()) <= 600


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_to_files_that_are_there(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def test_the_readme_names_make_targets_that_are_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named and named <= targets


def test_the_drop_reasons_of_troubleshooting_are_those_that_are_counted():
    page = (ROOT / "docs" / "guide" / "troubleshooting.md").read_text()
    rows = re.search(r"## Packets are dropped\n.*?\n(\|.*?)\n\n", page, re.DOTALL)[1]
    named = {name for row in rows.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    counted = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "reference" / "metrics.md").read_text(), re.MULTILINE))
    assert len(named) > 20 and named <= counted


@pytest.mark.parametrize("drawing", ["splitplane.svg", "design/packet-path.svg"])
def test_a_drawing_has_a_name_and_its_text_as_text(drawing):
    root = ElementTree.parse(ROOT / "docs" / drawing).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{svg}title").text and root.find(f"{svg}desc").text
    assert len(root.findall(f".//{svg}text")) > 10


@pytest.mark.parametrize("folder", ["guide", "operate", "design", "reference"])
def test_the_reading_order_names_every_page(folder):
    named = re.findall(r"\]\(([^)#]+)", (ROOT / "docs" / "README.md").read_text())
    pages = {f"{folder}/{page.name}" for page in (ROOT / "docs" / folder).glob("*.md")}
    assert pages and pages <= set(named)
