"""Refresh the numbers and pictures in README, documents and paper: part of ``make docs``."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from pready.model.advice.predict import predict
from pready.model.machine import machine
from pready.model.result.prediction import Prediction
from pready.model.workload import workload
from pready.validate import fabrics, papers
from pready.validate.report.trust import figures

README, PAPER, TRUST = Path("README.md"), Path("paper/paper.md"), Path("docs/trust.md")
FIGURES = Path("docs/trust.json")
"""What TRUST, README and PAPER say of claims, written here."""
EXAMPLE = "examples/halo3d.toml"
PREDICT = [sys.executable, "-m", "pready", "predict", EXAMPLE]
WAVES = ["simulate", EXAMPLE, "--ranks", "128", "--iterations", "60", "--approach", "many:8:8"]
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


def trust_numbers(found: dict[str, Any]) -> dict[str, str]:
    """FIGURES by the names that documents give them: ``fabrics_ok``, ``papers_can_fail``."""
    return {f"{kind}_{n}": f"{v:g}" for kind, of in found.items() for n, v in of.items() if isinstance(v, (int, float))}


def with_numbers(text: str, numbers: dict[str, str]) -> str:
    """A document with the numbers of these names put in; others stay."""
    return re.sub(NUMBER, lambda m: f"<!-- {m[1]} -->{numbers.get(m[1], m[2])}<!-- -->", text)


if __name__ == "__main__":
    as_in_a_terminal = os.environ | {"COLUMNS": "80"}
    drawing = [sys.executable, "-m", "pready", *WAVES, "--plot", "docs/waves.png"]
    subprocess.run(drawing, check=True, capture_output=True)
    subprocess.run([*PREDICT, "--plot", "paper/gain.png"], check=True, capture_output=True)
    command = [*PREDICT, "--plot", "docs/halo3d.svg"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=as_in_a_terminal).stdout.strip(
        "\n"
    )
    block = re.compile(r"(```text\n).*?(\n```)", re.DOTALL)
    text = README.read_text(encoding="utf-8")
    README.write_text(block.sub(lambda m: m[1] + printed + m[2], text, count=1), encoding="utf-8")
    claims = {"fabrics": figures(fabrics.validate()), "papers": figures(papers.validate())}
    FIGURES.write_text(json.dumps(claims, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    numbers = paper_numbers(predict(machine.load("meluxina"), workload.load(EXAMPLE))) | trust_numbers(claims)
    for document in (README, TRUST, PAPER):
        document.write_text(with_numbers(document.read_text(encoding="utf-8"), numbers), encoding="utf-8")
