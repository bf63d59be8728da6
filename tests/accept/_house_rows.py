"""What it takes to add a key of a bearer, a counter, a reason to drop and a control method: a row in one file each, in
a scratch copy. The program that is linked from it knows the new thing everywhere. Two programs are linked, because a
counter and a reason change the layout of what all workers count: that one only prints its page of metrics.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from _tools import ROOT, run, say
from report import Report

BUILD = ROOT / "build" / "release"
KEY, COUNTER, REASON, METHOD = "poll_pdu_twin", "toy_counter", "toy_reason", "toy.ping"
# File of src/, the line that the new row follows, and the row.
ROWS = {
    "bearer key": (
        "ran/bearer_fields.cpp",
        'fields::integer<&B::poll_pdu>("poll_pdu"',
        f'    fields::integer<&B::poll_pdu>("{KEY}", 0, 0xffff, {{.help = "A toy", .in = kBoth}}),',
    ),
    "counter": ("engine/stats.h", 'X(rounds, ""', f'  X({COUNTER}, "packets", "a toy") \\'),
    "drop reason": ("engine/drop_reason.h", 'X(punt_full, "', f'  X({REASON}, "a toy") \\'),
    "control method": (
        "gnb/control/methods.cpp",
        'registry.add("stats"',
        f'  registry.add("{METHOD}", without_params([] {{ return Json{{{{"toy", true}}}}; }}));',
    ),
}


def add_row(src: Path, kind: str) -> str:
    """The file that was changed."""
    name, behind, row = ROWS[kind]
    lines = (src / name).read_text().splitlines()
    at = [number for number, line in enumerate(lines) if behind in line]
    if len(at) != 1:
        raise RuntimeError(f"{name}: {len(at)} lines hold {behind}")
    end = at[0]
    while not lines[end].rstrip().endswith(("),", "\\", ";")):  # a row of several lines
        end += 1
    lines.insert(end + 1, row)
    text = "\n".join(lines) + "\n"
    if kind == "bearer key":  # the table says how many rows it has
        text = re.sub(r"(array<Field, )(\d+)(> kRows\{)", lambda m: f"{m[1]}{int(m[2]) + 1}{m[3]}", text)
    (src / name).write_text(text)
    return name


def read_unit(path: Path) -> str:
    """What CMake wrote to compile several files at once; nothing of other files."""
    return path.read_text() if path.name.startswith("unity_") else ""


def compiled(source: str, src: Path, objects: Path) -> Path:
    """The source as the build compiles it, with its neighbours, if it compiles several files at once. The scratch copy
    stands in front of every include root."""
    here = f"{ROOT / 'src'}/"
    unit, entry = next(
        (unit, item)
        for item in json.loads((BUILD / "compile_commands.json").read_text())
        for unit in [Path(item["file"])]
        if unit == ROOT / "src" / source or f'"{here}{source}"' in read_unit(unit)
    )
    target = objects / (source.replace("/", "_") + ".o")
    words = [word for word in shlex.split(entry["command"]) if word != "ccache"]
    words[words.index("-o") + 1] = str(target)
    words[-1] = str(src / source)
    if unit != ROOT / "src" / source:
        words[-1] = str(target.with_suffix(".cpp"))
        Path(words[-1]).write_text(read_unit(unit).replace(here, f"{src}/"))
    command = [words[0], "-I", str(src), *words[1:], "-O0"]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{source}: {done.stderr[:400]}")
    return target


def linked(objects: list[Path], program: Path) -> None:
    """The program, with these objects in front of the libraries that hold their older selves."""
    listing = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "commands", "-s", "splitplane"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[-1]
    words = shlex.split(listing.removeprefix(": && ").removesuffix(" && :"))
    words[words.index("-o") + 1] = str(program)
    words[1:1] = map(str, objects)
    done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"link: {done.stderr[-400:]}")


def knows_metrics(program: Path, _: Path) -> dict[str, list[str]]:
    """For each kind, where the new thing is missing."""
    _, page, _ = run([program, "metrics", "--markdown"], 30)
    return {
        "counter": [] if COUNTER in page else ["splitplane metrics"],
        "drop reason": [] if REASON in page else ["splitplane metrics"],
    }


def configuration(folder: Path) -> Path:
    """A gNB whose ports lead nowhere, with the new key at its bearer."""
    file = folder / "toy.yaml"
    file.write_text(
        f"""file_prefix: splitplane-toy
control: {folder}/toy.sock
memory: {{hugepages: never, megabytes: 256, mbufs: 4095}}
ports: {{n3: {{device: "net_null0,no-rx=1"}}, air: {{device: "net_null1,no-rx=1"}}}}
n3: [{{port: n3, ipv4: 10.100.0.1}}]
air: [{{port: air}}]
workers: {{w0: {{function: gnb, core: 0, n3: n3, air: air, policy: yield}}}}
bearers: [{{upf: 10.100.0.2, ul_teid: 1, {KEY}: 5}}]
"""
    )
    return file


def asked(path: Path, *requests: dict) -> list[dict]:
    """What the control socket answers to each request."""
    for _ in range(100):
        if path.exists():
            break
        time.sleep(0.1)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        lines = client.makefile("rw")
        answers = []
        for request in requests:
            lines.write(json.dumps(request) + "\n")
            lines.flush()
            answers.append(json.loads(lines.readline()))
        return answers


def knows_requests(program: Path, folder: Path) -> dict[str, list[str]]:
    """The key in the file, in a request, at ctl, in the schema and in the page; the method at a running instance."""
    file = configuration(folder)
    missing = [] if run([program, "check", "--file-only", file], 30)[0] == 0 else ["file"]
    for place, command, spelt in (
        ("ctl", [program, "ctl", "bearer", "add", "--help"], KEY.replace("_", "-")),
        ("schema", [program, "keys"], KEY),
        ("docs", [program, "keys", "--docs"], KEY),
    ):
        missing += [] if spelt in run(command, 30)[1] else [place]
    running = subprocess.Popen([program, "run", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        bearer = {"upf": "10.100.0.2", "ul_teid": 2, KEY: 7}
        added, toy = asked(
            folder / "toy.sock", {"id": 1, "method": "bearer.add", "params": bearer}, {"id": 2, "method": METHOD}
        )
    finally:
        running.terminate()
        running.wait(20)
    if added.get("result", {}).get("first", {}).get(KEY) != 7:
        missing.append(f"request: {added}")
    return {"bearer key": missing, "control method": [] if toy.get("result") == {"toy": True} else [str(toy)]}


PROGRAMS = {
    "metrics": (("counter", "drop reason"), ("observe/metrics.cpp",), knows_metrics),
    "requests": (
        ("bearer key", "control method"),
        ("ran/bearer_fields.cpp", "gnb/control/methods.cpp"),
        knows_requests,
    ),
}


def items(report: Report) -> None:
    say("a key, a counter, a reason and a method are added to a scratch copy")
    for name, (kinds, sources, known) in PROGRAMS.items():
        with tempfile.TemporaryDirectory(prefix="splitplane-rows-") as made:
            folder = Path(made)
            try:
                shutil.copytree(ROOT / "src", folder / "src")
                changed = {kind: add_row(folder / "src", kind) for kind in kinds}
                objects = [compiled(source, folder / "src", folder) for source in sources]
                linked(objects, folder / name)
                missing = known(folder / name, folder)
            except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as wrong:
                for kind in kinds:
                    report.judge(f"files_to_add_a_{kind}", "none", "1", False, f"{wrong}"[:300])
                continue
        for kind in kinds:
            reason = f"src/{changed[kind]}" if not missing[kind] else f"not known at {'; '.join(missing[kind])}"
            report.judge(f"files_to_add_a_{kind}", 1, "1 plus its use", not missing[kind], reason[:300])
