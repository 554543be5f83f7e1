"""Results show themselves in notebooks, though the model draws nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pready.model.result import forms


@pytest.mark.thorough
def test_results_show_themselves_however_they_were_imported() -> None:
    code = (
        "from pready.model.advice.explanation import explain; from pready.model.machine import machine;"
        "from pready.model.workload import workload;"
        "print(explain(machine.load('meluxina'), workload.load('examples/laggard.toml'))._repr_markdown_())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("**")


def test_without_anyone_to_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_renderers", [])
    with pytest.raises(LookupError, match="nothing renders int as html"):
        forms.rendered(1, "html")
