"""Refresh numbers and pictures in README, paper, docs/trust.md and docs/questions.md: part of ``make docs``."""

import os
import re
import subprocess
import sys
from pathlib import Path

from pready.model.advice.predict import predict
from pready.model.machine import machine
from pready.model.result.prediction import Prediction
from pready.model.workload import workload
from pready.validate import fabrics, papers
from pready.validate.claims.result import ClaimResult
from pready.validate.claims.summary import figures

README, PAPER = Path("README.md"), Path("paper/paper.md")
EXAMPLE = "examples/halo3d.toml"
PREDICT = [sys.executable, "-m", "pready", "predict", EXAMPLE]
KNOWN = ["--machine", "alps"]
"""README's first screen speaks of a machine that people know."""
WAVES = ["simulate", EXAMPLE, "--set", "grid=128", "--set", "iterations=60", "--approach", "many:8:8"]
TRUST = (README, Path("docs/trust.md"))
QUESTIONS = Path("docs/questions.md")
ANSWER = re.compile(r"(```console\n\$ pready (.+)\n```\n\n```text\n)[^`]*")
NUMBER = r"<!-- (\w+) -->([\d.]+)<!-- -->"


def paper_numbers(prediction: Prediction) -> dict[str, str]:
    """The example's numbers by the names that the paper gives them."""
    best = prediction.advised
    part = next(r for r in prediction.approaches if r.name == "Pt2Pt part" and r.available)
    return {
        "eta": f"{best.eta:.2f}",
        "eta_low": f"{best.eta_low:.2f}",
        "eta_high": f"{best.eta_high:.2f}",
        "speedup": f"{best.speedup_percent:.1f}",
        "part": f"{part.eta:.2f}",
    }


def trust_numbers(kind: str, claims: tuple[ClaimResult, ...]) -> dict[str, str]:
    """What ``pready validate papers`` or ``fabrics`` counts, named as in documents: ``papers_checked``."""
    return {f"{kind}_{name}": str(value) for name, value in figures(claims).items()}


def with_numbers(text: str, numbers: dict[str, str]) -> str:
    """A document with the numbers of these names put in; others stay."""
    return re.sub(NUMBER, lambda m: f"<!-- {m[1]} -->{numbers.get(m[1], m[2])}<!-- -->", text)


def with_answers(text: str) -> str:
    """A document with what its commands print below each of them."""

    def answered(of: re.Match[str]) -> str:
        command, width = [sys.executable, "-m", "pready", *of[2].split()], os.environ | {"COLUMNS": "100"}
        return of[1] + subprocess.run(command, capture_output=True, text=True, check=True, env=width).stdout

    return ANSWER.sub(answered, text)


if __name__ == "__main__":
    as_in_a_terminal = os.environ | {"COLUMNS": "80"}
    drawing = [sys.executable, "-m", "pready", *WAVES, "--plot", "docs/waves.png", "--overwrite"]
    subprocess.run(drawing, check=True, capture_output=True)
    subprocess.run([*PREDICT, "--plot", "paper/gain.png", "--overwrite"], check=True, capture_output=True)
    command = [*PREDICT, *KNOWN, "--plot", "docs/halo3d.svg", "--overwrite"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=as_in_a_terminal).stdout.strip(
        "\n"
    )
    block = re.compile(r"(```text\n).*?(```)", re.DOTALL)
    text = README.read_text(encoding="utf-8")
    README.write_text(block.sub(lambda m: f"{m[1]}{printed}\n{m[2]}", text, count=1), encoding="utf-8")
    numbers = paper_numbers(predict(machine.load("meluxina"), workload.load(EXAMPLE)))
    PAPER.write_text(with_numbers(PAPER.read_text(encoding="utf-8"), numbers), encoding="utf-8")
    trust = trust_numbers("papers", papers.validate()) | trust_numbers("fabrics", fabrics.validate())
    for document in TRUST:
        document.write_text(with_numbers(document.read_text(encoding="utf-8"), trust), encoding="utf-8")
    QUESTIONS.write_text(with_answers(QUESTIONS.read_text(encoding="utf-8")), encoding="utf-8")
