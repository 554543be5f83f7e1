"""Results show themselves in notebooks, though the model draws nothing."""

import subprocess
import sys


def test_whatever_is_imported_results_can_show_themselves() -> None:
    code = "from pready.model.result import forms; print(len(forms._renderers))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
