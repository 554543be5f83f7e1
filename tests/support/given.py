"""Short names of what pytest gives to a test."""

import pytest

Capsys = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
Request = pytest.FixtureRequest
