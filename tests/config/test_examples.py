"""The examples in the help of the commands: each file of this repository that they name is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pages(splitplane: Path, command: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """The help of a command and of all below it."""
    text = subprocess.run([splitplane, *command, "--help"], capture_output=True, text=True, check=True).stdout
    found = {command: text}
    listed = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  ([a-z][\w-]*)", listed, re.MULTILINE):
        found |= pages(splitplane, (*command, name))
    return found


def test_files_of_examples_are_there(splitplane):
    examples = {
        (command, name) for command, text in pages(splitplane).items() for name in re.findall(r"\bconfig/[\w.-]+", text)
    }
    assert len(examples) > 5, examples
    missing = {(command, name) for command, name in examples if not (ROOT / name).exists()}
    assert not missing
