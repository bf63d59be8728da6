"""The tests import the scripts of p4/ by their names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "p4"))
