"""Rules of this repository that no formatter knows; run by tests/lint/lint.sh. One line for each breach.

Each rule is a function from a file to the sentences that say what is wrong with it.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_SOURCE_LINES = 600
SOURCE_SUFFIXES = {".h", ".cpp", ".py", ".sh", ".go", ".cmake", ".p4", ".cu"}

# What each folder of src/ may include besides itself, directly or through the folders it names (docs/architecture.md).
ABOVE_DATAPATH = ("nic", "tap", "baas", "phy", "ue", "guard", "traffic", "nicmodel")
DEPENDS: dict[str, tuple[str, ...]] = {
    "base": (),
    "wire": ("base",),
    "crypto": ("wire",),
    "buf": ("wire",),
    "ran": ("buf", "crypto"),
    "power": ("base",),
    "power/replay": ("power", "traffic"),
    "datapath": ("ran", "power"),
    "gpu": ("wire",),
    **dict.fromkeys(ABOVE_DATAPATH, ("datapath",)),
    "nicmodel": ("gpu",),
    "nicmodel/port": ("nicmodel", "datapath"),
    "bypass": ("nicmodel",),
    "gpu/cuda": ("bypass",),
    "ue": ("phy",),
    "placement": ABOVE_DATAPATH,
    "app": ("placement", "bypass", "nicmodel/port"),
}

# Packages come by name through the machine's own clients: no file says from where, or where it was written.
REGISTRY = re.compile(
    r"\b(pypi\.org|pythonhosted\.org|npmjs\.(org|com)|crates\.io|(proxy|sum)\.golang\.org|(docker|ghcr|quay)\.io"
    r"|gcr\.io|pkg\.dev|repo1?\.maven\.[a-z]+|(deb|security)\.debian\.org|(archive|security)\.ubuntu\.com)\b"
    r"|(?<![\w-])--?(extra-)?index-url\b|\bGOPROXY\s*=",
    re.IGNORECASE,
)
MACHINE_PATH = re.compile(
    r"(?<![\w./$}])/(home|root|work|workspace|Users|mnt)/[\w.-]+|(?<![\w./$}])/tmp/(?!splitplane)[\w.-]+"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/[^"]+"')


def repository_files() -> list[Path]:
    """Tracked and new files; in a tree without git, everything but what is built."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listing.returncode == 0:
        paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        ignored = {"build", "out", ".venv", ".git", "__pycache__"}
        paths = [path for path in ROOT.rglob("*") if not ignored.intersection(path.relative_to(ROOT).parts)]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def allowed_folders(folder: str) -> set[str]:
    allowed = {folder}
    for dependency in DEPENDS[folder]:
        allowed |= allowed_folders(dependency)
    return allowed


def names_no_registry_or_machine_path(path: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if found := REGISTRY.search(line):
            yield f"{number}: names a package registry: {found.group()}"
        if found := MACHINE_PATH.search(line):
            yield f"{number}: names a path of one machine: {found.group()}"


def is_not_too_long(path: Path, lines: list[str]) -> Iterator[str]:
    if (path.suffix in SOURCE_SUFFIXES or path.name == "Makefile") and len(lines) > MAX_SOURCE_LINES:
        yield f"1: {len(lines)} lines; {MAX_SOURCE_LINES} is the limit for a source file"


def begins_with_its_purpose(path: Path, lines: list[str]) -> Iterator[str]:
    """A header says what it is for; a .cpp may instead begin with the include of the header it implements or tests."""
    name = path.relative_to(ROOT)
    if name.parts[0] not in ("src", "bench", "fuzz") or path.suffix not in (".h", ".cpp") or not lines:
        return
    if lines[0].startswith(("// ", "/* ")):
        return
    if path.stem.endswith("_test") and lines[0].startswith(f'#include "{"/".join(name.parts[1:-1])}/'):
        return  # a test names what it tests; one file may test several headers of its folder
    own_header = Path(*name.parts[1:]).with_suffix(".h")
    if path.suffix != ".cpp" or lines[0] != f'#include "{own_header}"':
        yield "1: does not begin with a comment that says what the file is for"


def includes_follow_the_dependency_rule(path: Path, lines: list[str]) -> Iterator[str]:
    name = path.relative_to(ROOT)
    if name.parts[0] != "src" or path.suffix not in (".h", ".cpp", ".cu"):
        return
    inner = "/".join(name.parts[1:3])
    folder = inner if inner in DEPENDS else name.parts[1]
    if folder not in DEPENDS:
        yield f"1: src/{folder} has no place in the dependency rule (DEPENDS in tests/lint/repo_rules.py)"
        return
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if found and found.group(1) in DEPENDS and found.group(1) not in allowed_folders(folder):
            yield f"{number}: {folder} may not include {found.group(1)}"


RULES = (
    names_no_registry_or_machine_path,
    is_not_too_long,
    begins_with_its_purpose,
    includes_follow_the_dependency_rule,
)


def breaches(path: Path) -> Iterator[str]:
    name = path.relative_to(ROOT)
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        yield f"{name}:1: {size} bytes; {MAX_FILE_BYTES} is the limit"
        return
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return  # a capture or picture: only its size is judged
    for rule in RULES:
        yield from (f"{name}:{sentence}" for sentence in rule(path, lines))


def main() -> int:
    files = repository_files()
    found = [sentence for path in files for sentence in breaches(path)]
    print("\n".join(found) if found else f"{len(files)} files keep the rules")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
