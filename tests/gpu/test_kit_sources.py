"""What the kit gives to a machine's own nvcc for the device check: every header that it includes, and none that needs a
library. CUDA's own headers are empty here: they only stop the preprocessor where they are missing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CUDA = ("cuda.h", "cuda_runtime.h", "cuda/atomic")


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_the_device_check_needs_nothing_but_its_sources_and_the_standard_library(tmp_path: Path) -> None:
    kit, stubs = tmp_path / "kit", tmp_path / "stubs"
    subprocess.run([ROOT / "setup" / "gpu_kit.sh", "--sources", kit], check=True)
    for name in CUDA:
        (stubs / name).parent.mkdir(parents=True, exist_ok=True)
        (stubs / name).touch()
    source = kit / "src" / "gpu" / "cuda" / "device_check.cu"
    command = ["g++", "-std=c++20", "-D__CUDACC__", "-I", kit / "src", "-isystem", stubs, "-x", "c++", "-E", source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    read = set(re.findall(r'^# \d+ "(/[^"]+)"', done.stdout, re.MULTILINE))
    others = {name for name in read if not name.startswith(str(tmp_path)) and "c++" not in name}
    assert not {name for name in read if "/fmt/" in name or "/tl/" in name}
    assert f"{kit}/src/crypto/device/nea2.h" in read
    assert not {name for name in others if str(ROOT) in name}
