"""HTTP as a scraper does it, and the two text formats taken apart."""

from __future__ import annotations

import re
import urllib.request

from processes import PATIENCE

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
PAGE_ROW = re.compile(r"^\| `(splitplane_\w+)` \| (\w+) \| (\w*) \| ([\w, ]*) \| (.+) \|$", re.MULTILINE)


def get(port: int, accept: str = "", path: str = "/metrics") -> tuple[str, str]:
    """Body and content type."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return reply.read().decode(), reply.headers["Content-Type"]


def documented(page: str) -> dict[str, tuple[str, str, list[str]]]:
    """Sample name -> type, unit, labels, from docs/reference/metrics.md."""
    return {
        name: (kind, unit, [label for label in labels.split(", ") if label])
        for name, kind, unit, labels, _ in PAGE_ROW.findall(page)
    }


def value(text: str, sample: str) -> float:
    """Of one line, named as it begins."""
    found = re.findall(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)
    assert len(found) == 1, f"{sample}: {found}"
    return float(found[0])
