"""The hand-written check and config/schema.json agree: both accept every good file, both refuse every mistake that a
schema can express, and the check names file, line and key of each in one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import core_yaml
import jsonschema
import pytest
from corpus import GOOD, SMALL, Mistake
from mistakes import MISTAKES

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "config" / "schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker(formats=["ipv4", "ipv6"]))
GUARD_PORTS = "ports: {a: {device: net_null0}, b: {device: net_null1}}\n"
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


def check(splitplane: Path, file: str | Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(splitplane), "check", str(file), *more], capture_output=True, text=True, timeout=90, check=False
    )


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a refusal, which has exit code 2 and nothing on standard output."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.endswith("\n") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr.rstrip("\n")


@pytest.mark.parametrize("file", CONFIGS, ids=lambda path: path.name)
def test_every_ready_configuration_is_good(splitplane, file):
    assert list(VALIDATOR.iter_errors(core_yaml.load(file.read_text()))) == []
    done = check(splitplane, file, "--file-only")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", GOOD)
def test_good_files_are_accepted_by_both(splitplane, tmp_path, name):
    assert list(VALIDATOR.iter_errors(core_yaml.load(GOOD[name]))) == []
    file = tmp_path / "good.yaml"
    file.write_text(GOOD[name])
    done = check(splitplane, file, "--file-only")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.key}: {m.says[:40]}")
def test_a_mistake_is_refused_with_file_line_and_key(splitplane, tmp_path, mistake: Mistake):
    file = tmp_path / "mistake.yaml"
    file.write_text(mistake.text)
    line = refusal(check(splitplane, file, "--file-only"))
    assert line.startswith(f"{file}:{mistake.line}: {mistake.key}: "), line
    assert mistake.says in line
    assert "; allowed: " in line
    if mistake.schema:
        assert list(VALIDATOR.iter_errors(core_yaml.load(mistake.text))), "the schema accepts it"


def test_the_corpus_uses_every_key_of_the_schema():
    """So that a key added to the schema alone, or to the check alone, is noticed here."""
    used = set(re.findall(r"([a-z0-9_]+):", "".join(GOOD.values())))
    known = set(SCHEMA["properties"])
    for definition in SCHEMA["$defs"].values():
        known |= set(definition.get("properties", {}))
    assert known - used == set()


def test_a_key_of_the_schema_is_known_to_the_check(splitplane, tmp_path):
    """The lists of keys are the same in both, section by section."""
    defs = SCHEMA["$defs"]
    sections = {
        "x: 1\n": set(SCHEMA["properties"]),
        "metrics: {x: 1}\n": set(defs["metrics"]["properties"]),
        "ports: {p: {x: 1}}\n": set(defs["port"]["properties"]),
        "memory: {x: 1}\n": set(defs["memory"]["properties"]),
        "ports: {p: {device: net_null0}}\nn3: [{x: 1}]\n": set(defs["n3"]["properties"]),
        "ports: {p: {device: net_null0}}\nair: [{x: 1}]\n": set(defs["air"]["properties"]),
        "ports: {p: {device: net_null0}}\nworkers: {w: {x: 1}}\n": set(defs["worker"]["properties"]),
        f"{SMALL}bearers: [{{x: 1}}]\n": set(defs["bearers"]["properties"]),
        f"{SMALL}sessions: [{{x: 1}}]\n": set(defs["sessions"]["properties"]),
        f"{SMALL}sessions: [{{upf: 10.0.0.1, ul_teid: 1, default_drb: 1, bearers: [{{x: 1}}]}}]\n": set(
            defs["session_bearers"]["properties"]
        ),
        f"{SMALL}taps: [{{x: 1}}]\n": set(defs["tap"]["properties"]),
        f"{SMALL}cards: {{c: {{x: 1}}}}\n": set(defs["card_link"]["properties"]),
        f"{SMALL}placement: {{x: 1}}\n": set(defs["placement"]["properties"]),
        f"{SMALL}placement: {{pin: [{{x: 1}}]}}\n": set(defs["pin"]["properties"]),
        "ports: {p: {device: net_null0}}\nue: {x: 1}\n": set(defs["ue"]["properties"]),
        "phy: {x: 1}\n": set(defs["emulated_phy"]["properties"]),
        "phy: {downlink: {x: 1}}\n": set(defs["block_loss"]["properties"]),
        "phy: {capture: {x: 1}}\n": set(defs["block_capture"]["properties"]),
        "phy: {}\nue: {x: 1}\n": set(defs["terminals"]["properties"]),
        "ports: {p: {device: net_null0}}\nue: {port: p, gnb_control: c, air: {x: 1}}\n": set(
            defs["ue_air"]["properties"]
        ),
        "ports: {p: {device: net_null0}}\nue: {port: p, gnb_control: c, air: {uplink: {x: 1}}}\n": set(
            defs["impairments"]["properties"]
        ),
        "ports: {p: {device: net_null0}}\ngen: {x: 1}\n": set(defs["gen"]["properties"]),
        "ports: {p: {device: net_null0}}\ngen: {port: p, bearers: [{x: 1}]}\n": set(defs["gen_bearers"]["properties"]),
        "ports: {p: {device: net_null0}}\nsink: {x: 1}\n": set(defs["sink"]["properties"]),
        "ports: {p: {device: net_null0}}\nguard: {x: 1}\n": set(defs["guard"]["properties"]),
        f"{GUARD_PORTS}guard: {{client: a, server: b, workers: [{{x: 1}}]}}\n": set(defs["guard_worker"]["properties"]),
        f"{GUARD_PORTS}guard: {{client: a, server: b, servers: [{{x: 1}}]}}\n": set(defs["guard_server"]["properties"]),
        f"{GUARD_PORTS}guard: {{client: a, server: b, sources: {{x: 1}}}}\n": set(defs["guard_sources"]["properties"]),
        f"{GUARD_PORTS}guard: {{client: a, server: b, flows: {{x: 1}}}}\n": set(defs["guard_flows"]["properties"]),
        "ports: {p: {device: net_null0}}\ncard: {x: 1}\n": set(defs["card"]["properties"]),
        "ports: {p: {device: net_null0}}\ncard: {program: p4wire, vfs: [p], wire: {x: 1}}\n": set(
            defs["wire"]["properties"]
        ),
    }
    for text, keys in sections.items():
        file = tmp_path / "keys.yaml"
        file.write_text(text)
        line = refusal(check(splitplane, file, "--file-only"))
        assert "unknown key" in line
        assert set(line.split("; allowed: ")[1].split(", ")) == keys


POLICIES = {
    name.removeprefix("policy_"): {key: v for key, v in form["properties"].items() if key != "kind"}
    for name, form in SCHEMA["$defs"].items()
    if name.startswith("policy_")
}


def test_a_policy_is_a_word_or_one_of_the_maps_of_settings():
    word, *maps = SCHEMA["$defs"]["policy"]["oneOf"]
    assert word["enum"] == list(POLICIES)
    assert [form["$ref"] for form in maps] == [f"#/$defs/policy_{kind}" for kind in POLICIES]


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_has_the_settings_and_ranges_of_the_schema(splitplane, tmp_path, kind):
    def refused(settings: str) -> list[str]:
        file = tmp_path / "policy.yaml"
        file.write_text(SMALL.replace("tx: p", f"tx: p, policy: {{kind: {kind}, {settings}}}"))
        return refusal(check(splitplane, file, "--file-only")).split("; allowed: ")

    foreign = next(key for other, keys in POLICIES.items() for key in keys if key not in POLICIES[kind])
    assert refused(f"{foreign}: 1")[1].split(", ") == ["kind", *POLICIES[kind]]
    for key, form in POLICIES[kind].items():
        a = {"integer": "an integer", "number": "a number"}[form["type"]]
        assert refused(f"{key}: 1e99")[1] == f"{a} from {form['minimum']} to {form['maximum']}"


def power_kinds(splitplane, form: str) -> str:
    return subprocess.run(
        [str(splitplane), "power", "kinds", form], capture_output=True, text=True, timeout=90, check=True
    ).stdout


def test_the_schema_has_the_defaults_of_every_policy(splitplane):
    for kind, settings in json.loads(power_kinds(splitplane, "--json")).items():
        assert {key: row["default"] for key, row in settings.items()} == {
            key: form["default"] for key, form in POLICIES.get(kind, {}).items()
        }


def test_the_page_of_policies_has_the_table_that_the_program_prints(splitplane):
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("power*.md"))
    assert power_kinds(splitplane, "--markdown") in pages


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("no/such.yaml", "cannot be read: No such file or directory"),
        (".", "is a directory; allowed: a YAML file"),
        ("/dev/null", "is a device"),
    ],
)
def test_what_is_no_file_is_refused(splitplane, file, says):
    line = refusal(check(splitplane, file))
    assert line.startswith(f"{file}: ") and says in line


@pytest.mark.parametrize("kind", ["fifo", "/proc/kmsg", "/dev/zero"])
def test_a_fifo_is_no_file_for_any_command(splitplane, tmp_path, kind):
    """Nor are a device and a file of /proc: opening or reading one may wait for ever, or never end."""
    file = kind
    if kind == "fifo":
        file = str(tmp_path / "fifo")
        os.mkfifo(file)
    good = str(ROOT / "config" / "demo.yaml")
    for command in (
        ["check", file],
        ["explain", file, "--config", good],
        ["explain", "00", "--config", file],
        ["power", "replay", file],
        ["gpu", "run", "--pcap-in", file],
    ):
        done = subprocess.run([str(splitplane), *command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2, (command, done)
        assert any(word in done.stderr for word in ("is a FIFO", "is a device", "/proc")), (command, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_a_file_that_is_too_large_is_refused(splitplane, tmp_path):
    file = tmp_path / "large.yaml"
    file.write_text("#" * (2 << 20))
    assert "allowed: at most 1048576" in refusal(check(splitplane, file))


def test_octets_that_are_no_text_are_refused(splitplane, tmp_path):
    file = tmp_path / "octets.yaml"
    for octets in (bytes(range(256)), b"\xff\xfe\x00", b"\0" * 100, b"[" * 5000, b"a: &a [*a]", b","):
        file.write_bytes(octets)
        assert refusal(check(splitplane, file, "--file-only")).startswith(f"{file}:")


def test_the_version_is_that_of_the_build(splitplane):
    version = re.search(r"project\(splitplane VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    done = subprocess.run([str(splitplane), "--version"], capture_output=True, text=True, timeout=90, check=True)
    assert version and done.stdout == f"splitplane {version[1]}\n"
