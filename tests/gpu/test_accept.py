"""The gates of `make accept PART=gpu`: they fall short where a bench shows nothing, and skip what is not here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "accept"))
sys.path.insert(0, str(ROOT / "tests" / "gpu"))

import _gpu_before  # noqa: E402
import _gpu_figures  # noqa: E402
import _gpu_judges  # noqa: E402
import _gpu_numbers  # noqa: E402
import _gpu_ready  # noqa: E402
import air_reader  # noqa: E402
from report import Report  # noqa: E402


def verdicts(report: Report) -> dict[str, str]:
    return {item.name: item.verdict for item in report.items}


def row(repeat: int, **other: object) -> dict:
    plain = {
        "mode": "bypass", "function": "echo", "rings": 4, "size": 64, "offered_mpps": 0.0, "window": 512, "mpps": 4.0,
        "repeat": repeat, "sound": True, "valid": True, "had_cores": True, "sent_of_due": None, "sent": 0, "due": 0,
    }  # fmt: skip
    return plain | other


def matrix(kept: int) -> dict:
    """Of 5 repeats at a half and at nine tenths of what goes, the generator keeps `kept`; of those above it, none."""

    def load(part: float, repeat: int) -> dict:
        good = part < 1 and repeat < kept
        sent = 1000 if good else 900
        return row(
            repeat, offered_mpps=4.0 * part, sent=sent, due=1000, sent_of_due=sent / 1000, valid=good, mpps=4.0 * part
        )

    return {
        "throughput": [row(n) for n in range(5)],
        "load": [load(part, n) for n in range(5) for part in (0.5, 0.9, 1.2)],
        "window": [row(n, rings=1, window=w, mpps=w / 10) for n in range(5) for w in (1, 4, 16, 64, 256)],
    }


@pytest.mark.parametrize(("kept", "verdict"), [(5, "pass"), (3, "pass"), (2, "short"), (0, "short")])
def test_a_matrix_whose_rows_do_not_count_falls_short(kept: int, verdict: str) -> None:
    report = Report()
    _gpu_figures.rows_that_count(report, matrix(kept))
    assert verdicts(report) == {"matrix_rows_that_count": verdict}


def test_a_row_that_counts_although_its_generator_fell_behind_falls_short() -> None:
    report, found = Report(), matrix(5)
    found["load"][0]["sent"] = 900
    _gpu_figures.rows_that_count(report, found)
    assert verdicts(report) == {"matrix_rows_that_count": "short"}


def test_verdicts_that_all_cannot_tell_fall_short() -> None:
    page = "cannot tell (0 of 0 pairs) " * 30
    decided, undecided = Report(), Report()
    _gpu_figures.verdicts(decided, page, matrix(5))
    assert verdicts(decided) == {"matrix_verdicts": "pass"}
    noise = matrix(5)
    for n, one in enumerate(noise["window"]):
        one["mpps"] = float(n % 3)
    _gpu_figures.verdicts(undecided, page, noise)
    assert verdicts(undecided) == {"matrix_verdicts": "short"}


@pytest.mark.parametrize(
    ("inside", "verdict"),
    [
        ({1: 1950.0, 2: 2050.0, 4: 2150.0}, "pass"),
        ({1: 1950.0, 2: 2050.0, 4: 3150.0}, "short"),
        ({1: 1950.0, 4: 2150.0}, "skipped"),  # no run with two rings counts
        ({}, "skipped"),
    ],
)
def test_what_is_inside_under_overload_is_a_buffer_and_not_a_matter_of_rings(inside: dict, verdict: str) -> None:
    report = Report()
    paper = {1: 1762.0, 2: 1887.0, 4: 1987.0}
    _gpu_figures.judge_buffer(report, "drop_en_off_buffer", "a buffer", paper, inside, {})
    assert verdicts(report) == {"drop_en_off_buffer": verdict}


@pytest.mark.parametrize(("reordered", "verdict"), [(0, "short"), (17, "pass")])
def test_numbers_of_bearers_that_one_ring_served_show_nothing(monkeypatch, reordered: int, verdict: str) -> None:
    frames = _gpu_numbers.FRAMES
    monkeypatch.setattr(_gpu_numbers, "through", lambda *_: (0, "", Path("/dev/null")))
    found = air_reader.Verdict(frames=frames, reordered=reordered)
    monkeypatch.setattr(air_reader, "judge", lambda *_args, **_words: found)
    monkeypatch.setattr(air_reader, "read_pcap", lambda _: iter(()))
    report = Report()
    _gpu_numbers.given_once(report, 4)
    assert verdicts(report) == {"numbers_once_on_4_rings": verdict}


NUMBERS = 5


@pytest.mark.parametrize("missing", ["program", "cryptography"])
def test_numbers_are_skipped_where_nothing_can_make_or_judge_them(monkeypatch, tmp_path, missing: str) -> None:
    if missing == "cryptography":
        monkeypatch.setattr(_gpu_numbers.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(_gpu_numbers, "BUILD", tmp_path)
    report = Report()
    _gpu_numbers.items(report)
    assert [item.verdict for item in report.items] == ["skipped"] * NUMBERS
    assert missing != "cryptography" or "cryptography" in report.items[0].reason


def test_sanitizers_are_skipped_where_nothing_can_be_built(monkeypatch) -> None:
    monkeypatch.setattr(_gpu_judges.shutil, "which", lambda tool: None if tool == "clang++" else f"/bin/{tool}")
    report = Report()
    _gpu_judges.sanitizers(report)
    assert verdicts(report) == dict.fromkeys(_gpu_judges.SANITIZERS, "skipped")
    assert "no clang++" in report.items[0].reason


@pytest.mark.parametrize(("offline", "verdict"), [("1", "skipped"), ("0", "short")])
def test_sanitizers_that_do_not_build_are_short_but_where_nothing_is_installed(monkeypatch, offline, verdict) -> None:
    monkeypatch.setattr(_gpu_judges.shutil, "which", lambda tool: f"/bin/{tool}")
    monkeypatch.setattr(_gpu_judges, "run", lambda *_args, **_words: (1, "no fmt", 0.1))
    monkeypatch.setattr(_gpu_judges, "sanitizer_environment", dict)
    monkeypatch.setenv("SPLITPLANE_OFFLINE", offline)
    report = Report()
    _gpu_judges.sanitizers(report)
    assert verdicts(report) == dict.fromkeys(_gpu_judges.SANITIZERS, verdict)


def test_a_kit_of_another_source_is_not_judged(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_gpu_ready, "KIT", tmp_path)
    assert _gpu_ready.no_kit() == "build/gpu-kit is not here: make gpu-kit"
    (tmp_path / "run").touch()
    (tmp_path / "commit").write_text("0123456789abcdef\n")
    asked = []
    for code, verdict in ((0, True), (1, False), (128, True)):  # same, other, and not to be found out
        monkeypatch.setattr(_gpu_ready, "run", lambda command, _, code=code: (asked.append(command), (code, "", 0))[1])
        assert (_gpu_ready.no_kit() == "") == verdict
    assert "0123456789abcdef" in asked[0] and "src" in asked[0]


@pytest.mark.parametrize(
    ("output", "code", "verdict"),
    [
        ("all", 77, "pass"),
        ("all", 0, "pass"),
        ("all", 1, "short"),
        ("one is short", 77, "short"),
        ("one is not named", 77, "short"),
        ("nothing", 77, "short"),
    ],
)
def test_a_kit_must_name_each_item(monkeypatch, output: str, code: int, verdict: str) -> None:
    names = sorted(_gpu_ready.NAMED)[1 if output == "one is not named" else 0 :]
    lines = [f"{name} measured=none target=x verdict=skipped reason=no GPU" for name in names]
    if output == "one is short":
        lines[0] = lines[0].replace("skipped", "short")
    said = "" if output == "nothing" else "\n".join(lines)
    monkeypatch.setattr(_gpu_ready, "no_kit", lambda: "")
    monkeypatch.setattr(_gpu_ready.os, "geteuid", lambda: 0)
    monkeypatch.setattr(_gpu_ready, "run", lambda *_: (code, said, 1.0))
    report = Report()
    _gpu_ready.kit_without_network(report)
    assert verdicts(report) == {"kit_without_network": verdict}


def test_a_table_of_before_and_after_says_what_is_worse() -> None:
    table = (
        "| 5 repeats in turn | before | after | after is |\n|---|---|---|---|\n"
        "| a lone packet, p50 us | 5 (4 to 6) | 3 (2 to 3) | less |\n"
        "| doorbells per packet | 0.1 (0.1 to 0.1) | 0.2 (0.2 to 0.2) | more |\n"
        "| Mpps, 1 rings, 64 octets | 5 (4 to 6) | 7 (6.5 to 8) | more |\n"
        "| Mpps, 2 rings, 64 octets | 5 (4 to 6) | 3 (2 to 3.5) | less |\n"
        "| Mpps, 4 rings, 64 octets | 5 (4 to 6) | 5 (4 to 6) | cannot tell |\n"
    )
    rows = _gpu_before.rows_of(table)
    assert list(rows["doorbells per packet"]) == ["0.1 (0.1 to 0.1)", "0.2 (0.2 to 0.2)", "more"]
    assert _gpu_before.worse(rows) == ["doorbells per packet", "Mpps, 2 rings, 64 octets"]


def test_without_an_older_program_before_and_after_is_skipped(monkeypatch) -> None:
    monkeypatch.delenv("SPLITPLANE_BEFORE", raising=False)
    report = Report()
    _gpu_before.items(report)
    assert verdicts(report) == {"before_and_after": "skipped"}
