"""Writes what the rows of keys say into config/schema.json and the page configuration.md; what `make reference` runs.

A row is one key in the C++ sources, such as those of src/ran/bearer_fields.cpp; `splitplane keys` prints them. In the
schema the entries of $defs that have rows get `required` and `properties` from them, and the top level gets its
`properties` from the section `file`. In the page a table between
`<!-- keys: NAME -->` and `<!-- end of keys -->` is such an entry's. Everything else in both stays as it is.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "config" / "schema.json"
DOCS = ROOT / "docs"
TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)


def keys(program: Path, *form: str) -> dict[str, Any]:
    printed = subprocess.run([str(program), "keys", *form], capture_output=True, text=True, timeout=90, check=True)
    return json.loads(printed.stdout)


def whole_text(name: str, value: Any, indent: str) -> str:
    """The member `name` of an object that stands at `indent`: on one line, unless it has properties or alternatives."""
    inner = indent + "  "
    if isinstance(value, dict) and (name == "properties" or "properties" in value or "oneOf" in value):
        body = ",\n".join(whole_text(key, item, inner) for key, item in value.items())
        return f'{indent}"{name}": {{\n{body}\n{indent}}}'
    if isinstance(value, list) and name in ("allOf", "oneOf"):
        body = ",\n".join(inner + json.dumps(item, ensure_ascii=False) for item in value)
        return f'{indent}"{name}": [\n{body}\n{indent}]'
    return f"{indent}{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"


def new_top(text: str, schema: dict[str, Any], rows: dict[str, Any]) -> str:
    """The keys of the file's top level are the schema's own properties. Which are required depends on the program."""
    schema["properties"] = rows["properties"]
    written = whole_text("properties", rows["properties"], "  ")
    text, found = re.subn(r'^  "properties": \{\n.*?^  \}', lambda _: written, text, flags=re.DOTALL | re.MULTILINE)
    if found != 1:
        raise SystemExit(f"{SCHEMA}: {found} places look like the properties of the file")
    return text


def new_schema(old: str, sections: dict[str, Any]) -> str:
    schema = json.loads(old)
    text = new_top(old, schema, sections["file"])
    for name, rows in sections.items():
        if name == "file":
            continue
        entry = {key: rows.get(key, value) for key, value in schema["$defs"][name].items()}
        if "required" not in rows:
            entry.pop("required", None)
        entry |= rows
        schema["$defs"][name] = entry
        place = re.compile(rf'^    "{name}": \{{\n.*?^    \}}', re.DOTALL | re.MULTILINE)
        written = whole_text(name, entry, "    ")
        text, found = place.subn(lambda _, new=written: new, text)
        if found != 1:
            raise SystemExit(f"{SCHEMA}: {found} places look like the entry {name} of $defs")
    if json.loads(text) != schema:
        raise SystemExit(f"{SCHEMA}: another entry would change too")
    return text


def page_with_tables() -> Path:
    pages = [page for page in sorted(DOCS.rglob("*.md")) if TABLE.search(page.read_text())]
    if len(pages) != 1:
        raise SystemExit(f"{DOCS}: {len(pages)} pages have `<!-- keys: NAME -->`; one is expected")
    return pages[0]


def link_from(page: Path, name: str) -> str:
    """Rows name the page alone, so that pages may move."""
    targets = sorted(DOCS.rglob(name))
    if not targets:
        raise SystemExit(f"{DOCS}: a row names the page {name}, which is not there")
    return os.path.relpath(targets[0], page.parent)


def new_page(page: Path, tables: dict[str, str]) -> str:
    def table(match: re.Match[str]) -> str:
        rows = re.sub(r"\]\(([\w-]+\.md)\)", lambda link: f"]({link_from(page, link[1])})", tables[match[2]])
        return f"{match[1]}\n{rows}\n{match[3]}"

    return TABLE.sub(table, page.read_text())


def generated(program: Path) -> dict[Path, str]:
    page = page_with_tables()
    return {
        SCHEMA: new_schema(SCHEMA.read_text(), keys(program)),
        page: new_page(page, keys(program, "--docs")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "splitplane")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file would change")
    args = parser.parse_args()
    stale = {file: text for file, text in generated(args.program).items() if file.read_text() != text}
    for file, text in stale.items():
        if not args.check:
            file.write_text(text)
        says = "is not what the rows say; `make reference` writes it" if args.check else "written"
        print(f"{file.relative_to(ROOT)}: {says}")
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
