"""A decoder of 5G FAPI (SCF-222) over nFAPI (SCF-225), written from public sources apart from src/phy/fapi.

profile.py names the sources, and the points where they disagree.
"""

from .nfapi import decode
from .profile import AERIAL, OAI, OPEN, SCF_10_02, Profile

__all__ = ["AERIAL", "OAI", "OPEN", "SCF_10_02", "Profile", "decode"]
