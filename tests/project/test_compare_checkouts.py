"""`benchmarks/compare_checkouts.py`: a checkout agrees with itself, and no longer if a value of a machine changes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="the checkout has no .venv"),
]


def compared(*options: str) -> subprocess.CompletedProcess[str]:
    """The checkout with itself."""
    words = [sys.executable, "benchmarks/compare_checkouts.py", "--before", ".", "--after", ".", *options]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_checkout_agrees_with_itself() -> None:
    patterns = ["--only", "pair", "--only", "list-uneven", "--only", "sweep3d"]
    done = compared("--count", "3", "--each", "--machine", "meluxina=meluxina", *patterns)  # a workload of each pattern
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| meluxina | 3 | 0 | 0 |" in done.stdout
    assert "All agree" in done.stdout


def test_a_value_that_changes_is_found(tmp_path: Path) -> None:
    profile = (ROOT / "model/machine/profiles/meluxina.toml").read_text(encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(profile.replace('value = "1.11 us"', 'value = "1.11111 us"'), encoding="utf-8")
    done = compared("--count", "1", "--only", "pair", "--machine", f"meluxina={other}")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "meluxina, pair" in done.stdout
    assert done.stderr == ""


def test_what_is_no_machine_is_a_usage_error() -> None:
    done = compared("--machine", "meluxina=nowhere.toml")
    assert done.returncode == 2
    assert "meluxina=nowhere.toml" in done.stderr
