"""The version, written into every file and prediction, and the day it was released.

Said here alone: the build reads `VERSION` from this file, `tests/project/test_version.py` compares CITATION.cff and
CHANGELOG.md with it.
"""

VERSION = "0.2.0"
RELEASED = "2026-11-26"
