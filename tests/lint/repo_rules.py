"""Rules of this repository that no formatter knows; run by tests/lint/lint.sh. One line for each breach.

Each rule is a function from a file to the sentences that say what is wrong with it.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_BYTES = 2 * 1024 * 1024
ROOMS_TABLE = ROOT / "src" / "rooms.txt"
MAX_FILES_OF_A_ROOM = 35  # tests aside
LONG_FILE_LINES = 600  # noted, not refused: a class is split by what its parts are responsible for, never by its length

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
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
CODE = {".h", ".cpp", ".cu", ".cuh"}
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
# Words that a comment says more plainly with a subject: who does it, how many there are.
RIDDLE = re.compile(r"\b(nobody|whoever|so many)\b", re.IGNORECASE)


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


@cache
def rooms() -> dict[str, set[str]]:
    """What each room may include besides itself, all the way down. The order of the table is from the ground up."""
    allowed: dict[str, set[str]] = {}
    for line in ROOMS_TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        room, _, rest = line.partition(":")
        below = rest.partition("|")[0].split()
        if unknown := [name for name in below if name not in allowed]:
            raise SystemExit(f"src/rooms.txt: {room} names {', '.join(unknown)}; allowed: rooms that stand above it")
        allowed[room] = set(below).union(*(allowed[name] for name in below))
    return allowed


def room_of(path: Path) -> str | None:
    name = path.relative_to(ROOT)
    return "/".join(name.parts[1:-1]) if name.parts[0] == "src" and path.suffix in CODE else None


def names_no_registry_or_machine_path(path: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if found := REGISTRY.search(line):
            yield f"{number}: names a package registry: {found.group()}"
        if found := MACHINE_PATH.search(line):
            yield f"{number}: names a path of one machine: {found.group()}"


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


def includes_lead_down(path: Path, lines: list[str]) -> Iterator[str]:
    room = room_of(path)
    if room is None or path.name == "main.cpp":
        return
    if room not in rooms():
        yield f"1: src/{room} is no room of src/rooms.txt"
        return
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        target = found.group(1).rpartition("/")[0] if found else ""
        if found and target != room and target not in rooms()[room]:
            yield f"{number}: {room} may not include {found.group(1)}"


def has_a_header(path: Path, lines: list[str]) -> Iterator[str]:
    """A .cpp implements the header of its name: so a reader finds a class, and none is cut over several files."""
    room = room_of(path)
    if room is None or path.suffix != ".cpp" or path.name == "main.cpp" or is_for_tests(path):
        return
    if not path.with_suffix(".h").exists():
        yield f"1: has no header {path.stem}.h that declares what it offers"


def comments_name_their_subject(path: Path, lines: list[str]) -> Iterator[str]:
    name = path.relative_to(ROOT)
    if name.parts[0] not in ("src", "bench", "fuzz") or path.suffix not in CODE:
        return
    cut = ""  # "so" at the end of a comment's line: "many" may follow on the next one
    for number, line in enumerate(lines, 1):
        comment = LITERAL.sub("", line).partition("//")[2].strip()
        if found := RIDDLE.search(f"{cut}{comment}"):
            yield f"{number}: a comment says '{found.group().lower()}'; name who does it, or how many there are"
        cut = "so " if comment.lower().endswith((" so", "(so")) else ""


def names_each_room(path: Path, lines: list[str]) -> Iterator[str]:
    if path != ROOMS_TABLE.with_name("README.md"):
        return
    named = re.findall(r"^\| `([\w/]+)` \|", "\n".join(lines).split("## Namespaces")[0], re.MULTILINE)
    if named != list(rooms()):
        wrong = [f"{name} or {room}" for name, room in zip_longest(named, rooms()) if name != room]
        yield f"1: its table and src/rooms.txt differ first at {wrong[0]}"


def full_rooms(files: list[Path]) -> Iterator[str]:
    count = Counter(room_of(path) for path in files if not is_for_tests(path))
    for room, number in count.items():
        if room is not None and number > MAX_FILES_OF_A_ROOM:
            yield f"src/{room}: {number} files, tests aside; {MAX_FILES_OF_A_ROOM} is the limit of a room"


def long_files(files: list[Path]) -> Iterator[str]:
    for path in files:
        if room_of(path) is None or is_for_tests(path):
            continue
        number = len(path.read_text(encoding="utf-8").splitlines())
        if number > LONG_FILE_LINES:
            yield f"{path.relative_to(ROOT)}:1: note: {number} lines; does its class have one responsibility?"


def is_for_tests(path: Path) -> bool:
    return path.stem.endswith("_test") or path.stem.startswith("test_")


RULES = (
    names_no_registry_or_machine_path,
    begins_with_its_purpose,
    includes_lead_down,
    has_a_header,
    comments_name_their_subject,
    names_each_room,
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
    found = [sentence for path in files for sentence in breaches(path)] + list(full_rooms(files))
    print("\n".join([*long_files(files), *(found or [f"{len(files)} files keep the rules"])]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
