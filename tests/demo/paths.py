"""Where the programs are that the demo and the end-to-end tests run, and how the UPF peer is built."""

from __future__ import annotations

import atexit
import fcntl
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from processes import ROOT, Failure, run

OUT = ROOT / "out"
CONFIG = ROOT / "config"
UPF_PEER_SOURCE = ROOT / "tests" / "upf-peer"

# Journals of the instances that this process starts: not those of the machine's own.
if "STATE_DIRECTORY" not in os.environ:
    os.environ["STATE_DIRECTORY"] = tempfile.mkdtemp(prefix="splitplane-state-")
    atexit.register(shutil.rmtree, os.environ["STATE_DIRECTORY"], ignore_errors=True)


@functools.cache
def own(name: str) -> Path:
    """out/NAME, or out/NAME-2 and so on while another run of the tests has it: two may run side by side."""
    number = 1
    while True:
        path = OUT / (name if number == 1 else f"{name}-{number}")
        path.mkdir(parents=True, exist_ok=True)
        folder = os.open(path, os.O_RDONLY)  # locked until this process ends
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return path
        except BlockingIOError:
            os.close(folder)
            number += 1


def splitplane() -> Path:
    """The binary: SPLITPLANE in the environment, else that of the release preset."""
    binary = Path(os.environ.get("SPLITPLANE", ROOT / "build" / "release" / "splitplane"))
    if not os.access(binary, os.X_OK):
        raise Failure(f"{binary} is not there: `make build` builds it")
    return binary


def upf_peer(say: Callable[[str], None] = lambda _: None) -> Path:
    """The UPF peer: built when it is missing or older than its source, with Debian's own Go, and `say` is told."""
    binary = Path(os.environ.get("SPLITPLANE_UPF_PEER", ROOT / "build" / "upf-peer"))
    sources = [*UPF_PEER_SOURCE.glob("*.go"), UPF_PEER_SOURCE / "go.mod", UPF_PEER_SOURCE / "go.sum"]
    if binary.exists() and binary.stat().st_mtime >= max(source.stat().st_mtime for source in sources):
        return binary
    go = next(
        (path for path in ("/usr/lib/go-1.19/bin/go", "/usr/lib/go/bin/go", "/usr/bin/go") if Path(path).exists()),
        shutil.which("go"),
    )
    if not go:
        raise Failure("Go is not installed (Debian package golang-go): `make setup` installs it")
    say("building the UPF peer (Go), once: it takes a minute or two")
    binary.parent.mkdir(parents=True, exist_ok=True)
    made = binary.with_name(f"{binary.name}.{os.getpid()}")  # another run may be using the old one, or building too
    run(
        ["env", "-C", UPF_PEER_SOURCE, go, "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", made, "."],
        timeout=300,
    )
    made.replace(binary)
    return binary
