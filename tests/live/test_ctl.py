"""What a person meets at the command line before a running gNB: names, statistics, exit codes, completion."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from paths import CONFIG, ROOT, splitplane

sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "explain")]

import frames  # noqa: E402

BEARER = "0x04000000"


def words(*more: object) -> list[str]:
    return [str(splitplane()), *map(str, more)]


def run(*more: object, instance: str = "") -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if key != "SPLITPLANE_INSTANCE"}
    if instance:
        environment["SPLITPLANE_INSTANCE"] = instance
    return subprocess.run(
        words(*more), capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL
    )


def good(*more: object, instance: str = "") -> str:
    done = run(*more, instance=instance)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_instance_is_named_by_i_or_by_the_variable(gnb):
    assert "process" in good("ctl", "-i", gnb.prefix, "ping")
    assert "process" in good("ctl", "ping", instance=gnb.prefix)
    assert "process" in good("ctl", "-i", gnb.prefix, "ping", instance="sp-live-none")
    assert "process" in good("ctl", "--config", gnb.config, "ping", instance="sp-live-none")
    assert "cyc/pkt" in good("top", "--once", "--interval", 0.2, instance=gnb.prefix)
    assert "w0" in good("power", "status", "-i", gnb.prefix, "--over", 0)
    assert "yield" in good("power", "set", "-i", gnb.prefix, "w0", "yield")


def test_a_wrong_name_lists_who_runs(gnb):
    for command in (["ctl", "ping"], ["top", "--once"], ["power", "status"]):
        done = run(*command, "-i", "sp-live-none") if command[0] != "ctl" else run("ctl", "-i", "sp-live-none", "ping")
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert "nothing runs at control socket" in done.stderr and gnb.prefix in done.stderr, done.stderr


def test_statistics_fit_80_columns_and_have_parts(gnb):
    everything = good("ctl", "-i", gnb.prefix, "stats")
    assert max(map(len, everything.splitlines())) <= 80, everything
    for part in ("totals", "ports", "workers", "stages", "drops"):
        assert f"\n{part}\n" in everything, everything
    port = good("ctl", "-i", gnb.prefix, "stats", "port", "n3")
    assert "received" in port and "air" not in port and "stages" not in port
    assert "nothing was dropped" in good("ctl", "-i", gnb.prefix, "stats", "drops")
    assert json.loads(good("ctl", "--json", "-i", gnb.prefix, "stats", "port", "air"))["ports"][0]["name"] == "air"


def test_a_list_of_bearers_shows_what_was_dropped(gnb):
    head, first, *_ = good("ctl", "-i", gnb.prefix, "bearer", "list", "--limit", 1).splitlines()
    assert "dl drop" in head and "ul drop" in head and first.startswith(BEARER)
    assert len(first) < 120


def test_delete_is_release(gnb):
    add = ["ctl", "--json", "-i", gnb.prefix, "bearer", "add", "--upf", "10.100.0.2", "--ul-teid", "0x7001"]
    bearer = json.loads(good(*add))["first"]["id"]
    assert "released" in good("ctl", "-i", gnb.prefix, "bearer", "delete", bearer)
    assert "was not there" in good("ctl", "-i", gnb.prefix, "bearer", "release", bearer)


def test_top_has_receive_as_a_stage_and_the_parts_add_up(gnb):
    lines = good("top", "-i", gnb.prefix, "--once", "--interval", 2, "--page", "stages").splitlines()
    worker = next(line.split() for line in lines if line.startswith("w0 ") and line.split()[1] == "0")
    stages = [line.split() for line in lines if line.startswith("w0 ") and line.split()[1] != "0"]
    assert stages[0][1] == "receive"
    parts = sum(float(stage[4]) for stage in stages if stage[4] != "-")
    assert parts == pytest.approx(float(worker[5]), rel=0.02, abs=0.5)


# Every way to ask for what cannot be: one line on standard error, exit code 2. {i}: of a running instance.
BAD = [
    "ctl -i {i} bearer add --upf 10.100.0.2",
    "ctl -i {i} bearer add --upf nowhere --ul-teid 1",
    "ctl -i {i} bearer add --upf fd00::1 --ul-teid 0x7100",
    "ctl -i {i} bearer add --upf 10.100.0.2 --ul-teid 0x7101 --qfi 64",
    "ctl -i {i} bearer add --upf 10.100.0.2 --ul-teid 0x7102 --card none",
    "ctl -i {i} bearer add --upf 10.100.0.2 --ul-teid 0x1001 --qfi 5",
    "ctl -i {i} bearer add --upf 10.100.0.2 --ul-teid 0x7103 --id 0x04000000",
    "ctl -i {i} bearer add --upf 10.100.0.2 --ul-teid 0x7104 --id 1",
    "ctl -i {i} bearer modify 0x07ffffff --qfi 5",
    "ctl -i {i} bearer modify 0x04000000",
    "ctl -i {i} bearer modify 0x04040000 --ul-teid 0x1001",
    "ctl -i {i} bearer show 0x07ffffff",
    "ctl -i {i} bearer show zero",
    "ctl -i {i} bearer release",
    "ctl -i {i} bearer reestablish 0x04000000",
    "ctl -i {i} bearer rekey 0x04000000 --key 7",
    "ctl -i {i} bearer rekey 0x04000000",
    "ctl -i {i} bearer rekey 0x04000000 --key 0",
    "ctl -i {i} session rekey 0x04000000 --key 7",
    "ctl -i {i} session rekey 0x04000000",
    "ctl -i {i} bearer list --limit 0",
    "ctl -i {i} stats drosp",
    "ctl -i {i} stats port n4",
    "ctl -i {i} tap on n4",
    "ctl -i {i} tap on n3 --view pdcp-nr",
    "ctl -i {i} tap on n3 --worker w9",
    "ctl -i {i} tap on n3 --file /no/such/folder/x.pcapng",
    "ctl -i {i} tap on n3 --snap 0",
    "ctl -i {i} air set --downlink-loss 5",
    "ctl -i {i} card",
    "ctl -i {i} frobnicate",
    "ctl -i a/b ping",
    "ctl -i {i} --socket /run/splitplane/x.sock ping",
    "ctl --config /no/such.yaml ping",
    "power set -i {i} w9 budget",
    "power set -i {i} w0 budget --set latency_us=0",
    "power set -i {i} w0 best",
    "power set -i {i} w0",
    "top -i {i} --once --page none",
    "top -i {i} --once --interval 0",
    "run /no/such.yaml",
    "run {config} --duration 0",
    "run {config} --stats-json /no/such/folder/x",
    "run {config} --log-level loud",
    "nic {config}",
    "ue {config}",
    "gen {config}",
    "gen",
    "gen --self-test {config}",
    "sink {config}",
    "check {config} --json --no",
    "check /dev/null",
    "explain zz --config {config}",
    "explain 00 --config /no/such.yaml",
    "explain /no/such.pcap --config {config}",
    "explain 00 --config {config} --only 2",
    "completion fish",
    "completion",
    "metrics --yaml",
    "power replay --rate 0",
    "power replay /no/such.pcap",
    "power tune --tolerance-packets x",
    "gpu run --rings 65",
    "gpu bench --mode warp",
]


@pytest.mark.parametrize("line", BAD)
def test_bad_input_ends_with_2_and_one_line(gnb, line):
    done = run(*line.format(i=gnb.prefix, config=gnb.config).split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done


def test_what_is_not_there_is_no_bad_input(gnb):
    assert run("ctl", "-i", "sp-live-none", "stats").returncode == 1
    assert run("explain", "00", "--config", CONFIG / "load-64k.yaml", "--running").returncode == 1


def test_explain_takes_bearers_and_neighbours_of_the_running_instance(gnb):
    """A bearer that only the instance has, and a UPF that it never found."""
    add = ["ctl", "--json", "-i", gnb.prefix, "bearer", "add", "--upf", "10.100.0.2", "--ul-teid", "0x7201"]
    bearer = json.loads(good(*add))["first"]["id"]
    frame = frames.n3(bearer, to="10.100.0.1").hex()
    explain = ["explain", frame, "--config", gnb.config]
    assert "teid_unknown" in good(*explain)
    assert f"bearer {bearer:#010x}" in good(*explain, "--running")
    uplink = frames.am18_up(0, 0).hex()
    assert "peer_unresolved" in good("explain", uplink, "--port", "air", "--config", gnb.config, "--running")
    good("ctl", "-i", gnb.prefix, "bearer", "delete", bearer)


def test_explain_says_what_the_gnb_sent_instead_of_taking_it_for_a_packet_that_comes_in(gnb, folder):
    file = folder / "air.pcapng"
    good("ctl", "-i", gnb.prefix, "tap", "on", "air", "--file", file, "--buffers", 512)
    good("ctl", "-i", gnb.prefix, "tap", "off", "air")
    lines = good("explain", file, "--config", gnb.config, "--port", "air").splitlines()
    assert lines and all("the gNB sent it" in line for line in lines), lines[:5]
    shown = json.loads(good("explain", file, "--config", gnb.config, "--port", "air", "--only", 1, "--json"))
    assert shown["sent"] is True and shown["packet"] == 1


def complete(line: str) -> list[str]:
    """What bash offers for the last word of a line, by our script."""
    program = shlex.quote(str(splitplane()))
    script = (
        f'source <({program} completion bash); COMP_WORDS=({line}); [[ "{line}" == *" " ]] && COMP_WORDS+=("");'
        " COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _splitplane; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.split()


def test_bash_completes_commands_options_and_values():
    assert complete("splitplane ru") == ["run"]
    assert {"run", "card", "ue", "ctl", "top", "completion"} <= set(complete("splitplane "))
    assert complete("splitplane ctl bearer del") == ["delete"]
    assert complete("splitplane ctl -i run be") == ["bearer"]
    assert {"--upf", "--ul-teid", "--json", "--config"} <= set(complete("splitplane ctl bearer add --"))
    assert set(complete("splitplane ctl tap on n3 --direction ")) == {"in", "out", "both"}
    assert complete("splitplane run x.yaml --log-level w") == ["warn"]
    assert complete("splitplane run conf") == [], "bash completes file names"
    assert complete("splitplane ctl stats --j") == ["--json"]


def test_bash_completes_names_of_instances(gnb):
    assert gnb.prefix in complete("splitplane ctl -i ")


def test_every_command_and_option_of_the_help_is_completed():
    def walk(path: list[str]):
        text = subprocess.run(words(*path, "--help"), capture_output=True, text=True, check=True).stdout
        offered = set(complete(" ".join(["splitplane", *path, ""])))
        section = ""
        for line in text.splitlines():
            if line and not line.startswith(" "):
                section = line
            elif section.lower().startswith("subcommands") and line.startswith("  ") and line[2] != " ":
                name = line.split()[0].rstrip(",")
                assert name in offered, f"{path}: {name} is not offered: {offered}"
                walk([*path, name])
            elif section.lower().startswith("option") and line.startswith("  -"):
                names = [word for word in line.split()[0].split(",") if word.startswith("--")]
                assert set(names) <= offered, f"{path}: {names} not in {offered}"

    walk([])


def test_the_zsh_script_is_that_of_bash_behind_bashcompinit():
    zsh, bash = good("completion", "zsh"), good("completion", "bash")
    assert zsh.endswith(bash) and "bashcompinit" in zsh.removesuffix(bash)
    assert Path(splitplane()).name in bash
