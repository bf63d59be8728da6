"""The tests import the scripts of p4/ by their names. config/ has a generate.py, too, which other tests import."""

import sys
from pathlib import Path

sys.modules.pop("generate", None)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "p4"))
