"""Short names of what pytest and fixtures give to a test."""

import subprocess
from collections.abc import Callable

import pytest

Capsys = pytest.CaptureFixture[str]
Dump = Callable[..., "subprocess.CompletedProcess[str]"]
Patch = pytest.MonkeyPatch
Request = pytest.FixtureRequest
