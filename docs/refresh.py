"""Refresh the numbers and pictures in README and paper: part of ``make docs``."""

import os
import re
import subprocess
import sys
from pathlib import Path

from pready.model.advice.predict import predict
from pready.model.machine import machine
from pready.model.result.prediction import Prediction
from pready.model.workload import workload

README, PAPER = Path("README.md"), Path("paper/paper.md")
EXAMPLE = "examples/halo3d.toml"
PREDICT = [sys.executable, "-m", "pready", "predict", EXAMPLE]
WAVES = ["simulate", EXAMPLE, "--ranks", "128", "--iterations", "60", "--approach", "many:8:8"]
LEFT_OUT = "…"
NOT_SHIPPED = re.compile(r"\n  [a-z ]+(?:\n  [^\n]* \* [^\n]*)+$")
"""At the end of the table: their heading, and a row with an asterisk for each."""
NUMBER = r"<!-- (\w+) -->([\d.]+)<!-- -->"


def shortened(printed: str) -> str:
    """The table without approaches that nobody ships, and the verdict; what is left out in between is marked."""
    table, _, rest = printed.partition("\n\nclosed form")
    table = NOT_SHIPPED.sub("", table)
    verdict = rest[rest.index("\n\n") + 2 : rest.index("\nbecause ")]
    return "\n".join([table, LEFT_OUT, verdict, LEFT_OUT])


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


if __name__ == "__main__":
    wide = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    drawing = [sys.executable, "-m", "pready", *WAVES, "--plot", "docs/waves.png"]
    subprocess.run(drawing, check=True, capture_output=True)
    subprocess.run([*PREDICT, "--plot", "paper/gain.png"], check=True, capture_output=True)
    command = [*PREDICT, "--plot", "docs/halo3d.svg"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=wide).stdout.strip("\n")
    block = re.compile(r"(```text\n).*?(\n```)", re.DOTALL)
    text = README.read_text(encoding="utf-8")
    README.write_text(block.sub(lambda m: m[1] + shortened(printed) + m[2], text, count=1), encoding="utf-8")
    numbers = paper_numbers(predict(machine.load("meluxina"), workload.load(EXAMPLE)))
    text = PAPER.read_text(encoding="utf-8")
    PAPER.write_text(re.sub(NUMBER, lambda m: f"<!-- {m[1]} -->{numbers[m[1]]}<!-- -->", text), encoding="utf-8")
