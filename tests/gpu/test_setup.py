"""setup/gpu.sh and setup/accept_gpu.sh where a build fails: no program of an older source is judged in the place of one
that does not build, and programs that were brought to a machine stay there. CMake, Ninja and nvcc are played.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


class Tree:
    """A copy of the scripts, and a PATH that has the tools which the test plays and nothing of the machine's own."""

    NEEDED = (
        "bash", "cat", "cp", "cut", "dirname", "env", "git", "grep", "head", "id", "ln", "mkdir", "mv", "rm", "sed",
        "sha256sum", "tail", "tr", "true",
    )  # fmt: skip

    def __init__(self, folder: Path) -> None:
        self.root, self.path = folder / "tree", folder / "path"
        for name in ("gpu.sh", "accept_gpu.sh", "common.sh", "nvcc.py", "requirements-gpu.txt"):
            (self.root / "setup").mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "setup" / name, self.root / "setup" / name)
        (self.root / "CMakePresets.json").write_text("{}")
        self.path.mkdir()
        for tool in self.NEEDED:
            (self.path / tool).symlink_to(shutil.which(tool) or "/bin/false")
        self.tool("python3", f'exec {sys.executable} "$@"')

    def tool(self, name: str, text: str) -> None:
        script(self.path / name, text)

    def file(self, name: str, text: str = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, name: str, **environment: str) -> subprocess.CompletedProcess:
        plain = {"PATH": str(self.path), "HOME": os.environ.get("HOME", "/")} | environment
        return subprocess.run([self.root / name], env=plain, capture_output=True, text=True, timeout=60)


CONFIGURES = "mkdir -p build/gpu; echo new > build/gpu/build.ninja"
FAILS = "echo 'CMake Error at CMakeLists.txt:7:'; echo '  no fmt'; exit 1"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path)
    made.tool("nvcc", 'echo "Cuda compilation tools, release 13.1, V13.1.2"')
    made.tool("cmake", CONFIGURES)
    made.tool("ninja", "mkdir -p build/gpu/bin; echo new > build/gpu/bin/host_bypass")
    return made


@pytest.mark.parametrize(("offline", "code"), [("1", SKIPPED), ("0", 1)])
def test_programs_that_were_brought_here_outlast_a_build_that_cannot_be_configured(tree, offline, code) -> None:
    brought = tree.file("build/gpu/bin/host_bypass", "brought")
    tree.tool("cmake", FAILS)
    done = tree.run("setup/gpu.sh", SPLITPLANE_OFFLINE=offline)
    assert done.returncode == code, done.stdout + done.stderr
    assert "no fmt" in done.stderr
    assert brought.read_text() == "brought"
    assert [path.name for path in (tree.root / "build").iterdir() if path.name.startswith("gpu")] == ["gpu"]


def test_programs_that_were_brought_here_outlast_a_compile_error(tree) -> None:
    brought = tree.file("build/gpu/bin/host_bypass", "brought")
    tree.tool("ninja", "echo 'a.cu:1: error: expected ;'; exit 1")
    done = tree.run("setup/gpu.sh")
    assert done.returncode == 1
    assert "expected ;" in done.stderr
    assert brought.read_text() == "brought"


def test_another_preset_is_configured_anew_and_the_same_one_is_not(tree) -> None:
    old = tree.file("build/gpu/CMakeCache.txt", "of another compiler")
    tree.file("build/gpu/build.ninja", "old")
    assert tree.run("setup/gpu.sh").returncode == 0
    assert not old.exists()
    assert (tree.root / "build/gpu/build.ninja").read_text() == "new\n"
    assert (tree.root / "build/gpu/bin/host_bypass").read_text() == "new\n"
    tree.tool("cmake", FAILS)
    assert tree.run("setup/gpu.sh").returncode == 0


def test_a_run_that_was_killed_while_it_configured_gives_the_programs_back(tree) -> None:
    tree.file("build/gpu.before/bin/host_bypass", "brought")
    tree.file("build/gpu/CMakeCache.txt", "half")
    tree.tool("cmake", FAILS)
    assert tree.run("setup/gpu.sh", SPLITPLANE_OFFLINE="1").returncode == SKIPPED
    assert (tree.root / "build/gpu/bin/host_bypass").read_text() == "brought"


@pytest.mark.parametrize(("release", "found"), [("12.9", False), ("13.0", True), ("14.2", True)])
def test_only_a_compiler_of_the_version_needed_is_taken(tree, release, found) -> None:
    tree.tool("nvcc", f'echo "Cuda compilation tools, release {release}, V1"')
    done = tree.run("setup/gpu.sh", SPLITPLANE_OFFLINE="1")
    if not Path("/usr/local/cuda/bin/nvcc").exists():
        assert done.returncode == (0 if found else SKIPPED), done.stderr


@pytest.fixture
def accepting(tree: Tree) -> Tree:
    """A tree with a program of an older source, whose judge says what it was given."""
    tree.file("build/release/splitplane", "old")
    tree.file("tests/accept/run.py", "import os; print('judged', os.environ['SPLITPLANE_OFFLINE'])")
    for name in ("install", "build", "gpu_kit"):
        script(tree.root / "setup" / f"{name}.sh", "exit 0\n")
    script(tree.root / "setup" / "build.sh", "echo 'a.cpp:1: error: expected ;' >&2; exit 1\n")
    return tree


def test_source_that_does_not_compile_is_not_accepted_by_an_older_program(accepting) -> None:
    done = accepting.run("setup/accept_gpu.sh", SPLITPLANE_OFFLINE="0")
    assert done.returncode == 1
    assert "judged" not in done.stdout
    assert "expected ;" in done.stderr


@pytest.mark.parametrize(("kit", "code", "judged"), [(0, 0, True), (SKIPPED, 0, True), (1, 1, False)])
def test_the_kit_that_is_judged_is_made_of_this_source(accepting, kit: int, code: int, judged: bool) -> None:
    script(accepting.root / "setup" / "build.sh", "exit 0\n")
    script(accepting.root / "setup" / "gpu_kit.sh", f"exit {kit}\n")
    done = accepting.run("setup/accept_gpu.sh")
    assert (done.returncode, "judged 0" in done.stdout) == (code, judged), done.stderr


def test_where_nothing_can_be_built_and_nothing_is_asked_for_what_is_here_is_judged(accepting) -> None:
    done = accepting.run("setup/accept_gpu.sh", SPLITPLANE_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "judged 1\n"


def test_without_cmake_the_programs_that_are_here_are_judged(accepting) -> None:
    (accepting.path / "cmake").unlink()
    done = accepting.run("setup/accept_gpu.sh", SPLITPLANE_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "judged 1\n"


def test_without_programs_those_of_the_kit_are_judged(accepting) -> None:
    (accepting.root / "build/release/splitplane").unlink()
    script(accepting.root / "build/gpu-kit/run", 'echo "kit: $*"\n')
    done = accepting.run("setup/accept_gpu.sh", SPLITPLANE_OFFLINE="1")
    assert (done.returncode, done.stdout) == (0, "kit: accept build cpu device judges\n"), done.stderr
