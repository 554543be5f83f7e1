"""Draw the README's and the paper's pictures, put the first command's output in place: part of ``make docs``."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path("README.md")
COMMAND = [sys.executable, "-m", "pready", "predict", "examples/halo3d.toml", "--plot", "docs/halo3d.svg"]
WAVES = ["simulate", "examples/halo3d.toml", "--ranks", "128", "--iterations", "60", "--approach", "many:8:8"]
LEFT_OUT = "…"


def shortened(printed: str) -> str:
    """The table, and below it the verdict: what is between and behind is left out, and said to be."""
    table, _, rest = printed.partition("\n\nclosed form")
    verdict = rest[rest.index("\n\n") + 2 : rest.index("\nbecause ")]
    return "\n".join([table, LEFT_OUT, verdict, LEFT_OUT])


if __name__ == "__main__":
    wide = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    drawing = [sys.executable, "-m", "pready", *WAVES, "--plot", "docs/waves.png"]
    subprocess.run(drawing, check=True, capture_output=True)
    subprocess.run([*COMMAND[:-1], "paper/gain.png"], check=True, capture_output=True)
    printed = subprocess.run(COMMAND, capture_output=True, text=True, check=True, env=wide).stdout.strip("\n")
    text = README.read_text(encoding="utf-8")
    fresh = re.sub(r"(```text\n).*?(\n```)", lambda m: m[1] + shortened(printed) + m[2], text, count=1, flags=re.DOTALL)
    README.write_text(fresh, encoding="utf-8")
