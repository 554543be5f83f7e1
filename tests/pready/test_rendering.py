"""Results show themselves in notebooks, though the model draws nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pready.model.result import forms


def test_whatever_is_imported_results_can_show_themselves() -> None:
    code = "from pready.model.result import forms; print(len(forms._renderers))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_without_anyone_to_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_renderers", [])
    with pytest.raises(LookupError, match="nothing renders int as html"):
        forms.rendered(1, "html")
