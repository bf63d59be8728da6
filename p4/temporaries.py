"""Lets the temporaries of a .spec share fields of the metadata.

An operand of DPDK's pipeline names an octet of the metadata by 8 bits (22.11: `struct instr_operand`), and beyond 256
octets fields overlap without a word. p4c-dpdk makes new temporaries for each cast and each mask, hundreds of octets.
Jumps go forwards only, so two temporaries whose lines do not overlap never live at the same time.
"""

import re
from dataclasses import dataclass, field

METADATA_OCTETS = 256
TEMPORARY = re.compile(r"(MainControlT_tmp|tmpMask)(_\d+)?")
USE = re.compile(r"\bm\.(\w+)")
DEFINITION = re.compile(r"(?:\w+ :\s+)?mov m\.(\w+) ")
FIELD = re.compile(r"bit<(\d+)> (\w+)")


@dataclass
class Life:
    """The lines on which a temporary is named, all of one action or of `apply`."""

    block: int
    first: int
    last: int
    is_set_first: bool


@dataclass
class Pool:
    """Fields of one width: until which line each is in use."""

    prefix: str
    busy_until: list[int] = field(default_factory=list)

    def take(self, first: int, last: int) -> str:
        for i, until in enumerate(self.busy_until):
            if until < first:
                self.busy_until[i] = last
                return f"{self.prefix}_{i}"
        self.busy_until.append(last)
        return f"{self.prefix}_{len(self.busy_until) - 1}"


def blocks(lines: list[str]) -> list[tuple[int, int]]:
    """First and last line of each action, then of `apply`."""
    found = []
    begin = -1
    for i, line in enumerate(lines):
        if line.startswith(("action ", "apply {")):
            begin = i
        elif begin >= 0 and line.startswith("}"):
            found.append((begin, i))
            begin = -1
    return found


def lives(lines: list[str], wanted: set[str]) -> dict[str, Life | None]:
    """None: the temporary is named in several blocks."""
    found: dict[str, Life | None] = {}
    for number, (begin, end) in enumerate(blocks(lines)):
        for i in range(begin, end):
            for name in wanted & set(USE.findall(lines[i])):
                life = found.get(name)
                if name not in found:
                    definition = DEFINITION.match(lines[i].strip())
                    found[name] = Life(number, i, i, bool(definition and definition[1] == name))
                elif life is not None and life.block == number:
                    life.last = i
                else:
                    found[name] = None
    return found


def metadata(lines: list[str]) -> tuple[int, int]:
    begin = lines.index("struct meta_t {")
    return begin + 1, lines.index("}", begin)


def share_temporaries(text: str) -> str:
    """The .spec with fewer fields of metadata, which does the same. ValueError if they are still too many."""
    lines = text.splitlines()
    begin, end = metadata(lines)
    bits = {m[2]: int(m[1]) for m in map(FIELD.search, lines[begin:end]) if m}
    temporaries = {name for name in bits if TEMPORARY.fullmatch(name)}
    life_of = lives(lines, temporaries)
    last_block = len(blocks(lines)) - 1
    names: dict[str, str] = {}
    pools: dict[tuple[int, int], Pool] = {}
    used: dict[str, int] = {}
    for name in sorted((n for n in temporaries if life_of.get(n)), key=lambda n: (life_of[n].first, n)):
        life = life_of[name]
        if not life.is_set_first:
            continue
        # Actions run while `apply` waits, and never inside each other: they have pools of their own.
        kind = "apply" if life.block == last_block else "action"
        pool = pools.setdefault((life.block, bits[name]), Pool(f"{kind}_{bits[name]}"))
        names[name] = pool.take(life.first, life.last)
        used[names[name]] = bits[name]
    unnamed = {name for name in temporaries if name not in life_of}
    kept = [line for line in lines[begin:end] if FIELD.search(line)[2] not in names.keys() | unnamed]
    body = lines[:begin] + kept + [f"\tbit<{used[n]}> {n}" for n in sorted(used)] + lines[end:]
    shared = "\n".join(USE.sub(lambda m: f"m.{names.get(m[1], m[1])}", line) for line in body) + "\n"
    octets = metadata_octets(shared)
    if octets > METADATA_OCTETS:
        raise ValueError(f"{octets} octets of metadata; allowed: at most {METADATA_OCTETS}")
    return shared


def metadata_octets(text: str) -> int:
    lines = text.splitlines()
    begin, end = metadata(lines)
    return sum(int(m[1]) for m in map(FIELD.search, lines[begin:end]) if m) // 8
