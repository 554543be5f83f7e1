"""The paper: its numbers are those of today, its references exist, and it has the length that JOSS asks for."""

import re
import subprocess
from pathlib import Path

import pytest
from refresh import NUMBER, paper_numbers

from pready.model.advice.predict import predict
from pready.model.machine import machine
from pready.model.workload import workload

PAPER = Path("paper/paper.md").read_text(encoding="utf-8")
BIB = Path("paper/paper.bib").read_text(encoding="utf-8")
TRUST = " ".join(re.sub("<!--.*?-->", "", Path("docs/trust.md").read_text(encoding="utf-8")).split())


@pytest.mark.thorough
def test_the_example_is_todays() -> None:
    p = predict(machine.load("meluxina"), workload.load("examples/halo3d.toml"))
    assert dict(re.findall(NUMBER, PAPER)) == paper_numbers(p)
    assert p.advised.key == "many"
    assert p.advice.verdict == "port"


def test_what_it_says_of_trust_is_what_the_documentation_says() -> None:
    section = PAPER[PAPER.index("# How far to trust it") : PAPER.index("# Acknowledgements")]
    for number in re.findall(r"\d+\.\d+(?= %)", section):
        assert f"{number} %" in TRUST, number
    for said in ("249 checked claims", "198 hold", "47 of 84 hold"):
        assert said in " ".join(section.split())
        assert said in TRUST


def test_every_reference_is_cited_and_has_a_doi() -> None:
    keys = re.findall(r"^@\w+\{(\w+),", BIB, flags=re.MULTILINE)
    cited = set(re.findall(r"@(\w+)", PAPER.split("---", 2)[2]))
    assert set(keys) == cited
    assert len(re.findall(r"^  doi = \{10\.\d{4,}/\S+\}", BIB, flags=re.MULTILINE)) == len(keys)


def test_it_has_the_form_that_joss_asks_for() -> None:
    _, head, body = PAPER.split("---", 2)
    assert all(f"{field}:" in head for field in ("title", "tags", "authors", "affiliations", "date", "bibliography"))
    assert all(f"\n# {h}\n" in body for h in ("Summary", "Statement of need", "References"))
    words = len(re.sub(r"<!--.*?-->", "", body).split())
    assert 750 <= words <= 1250
    for picture in re.findall(r"\]\((\w+\.png)\)", body):
        assert (Path("paper") / picture).exists()


@pytest.mark.needs("pandoc")
def test_it_compiles() -> None:
    done = subprocess.run(
        ["pandoc", "--citeproc", "--fail-if-warnings", "--to", "plain", "paper.md"],
        cwd="paper", capture_output=True, text=True, check=True,
    )  # fmt: skip
    references = done.stdout.partition("\nReferences\n")[2]
    assert done.stdout.startswith("Summary\n")
    assert references.count("https://doi.org/") == BIB.count("  doi = {")
    assert "???" not in done.stdout  # what citeproc writes for a reference that is not there
