"""Puts the tests folder on the import path, so that tests share ``fixtures`` and ``oracles``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
