"""An independent reader of what full mode sends over the air: transport blocks in, IP packets and a report out.

Written from TS 38.321, 38.322, 38.323, 37.324 and 33.501, apart from src/ran and src/wire. walk.py has the whole path.
"""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [path for path in (str(_TESTS), str(_TESTS / "oracle")) if path not in sys.path]

from .bearers import Bearer, read_bearers, read_keys  # noqa: E402
from .framing import DOWNLINK, UPLINK, Block, read_blocks  # noqa: E402
from .report import Inner, Report  # noqa: E402
from .walk import walk  # noqa: E402

__all__ = [
    "DOWNLINK",
    "UPLINK",
    "Bearer",
    "Block",
    "Inner",
    "Report",
    "read_bearers",
    "read_blocks",
    "read_keys",
    "walk",
]
