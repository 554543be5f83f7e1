"""How every test is run."""

from __future__ import annotations

from hypothesis import settings

# Hypothesis fails a case that takes 200 ms; on a busy machine that says nothing of the code.
settings.register_profile("pready", deadline=None)
settings.load_profile("pready")
