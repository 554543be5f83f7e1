"""Draw the README's picture and put its first command's real output in place: ``make docs``."""

import re
import subprocess
import sys
from pathlib import Path

README = Path("README.md")
COMMAND = [sys.executable, "-m", "pready", "predict", "examples/halo3d.toml", "--plot", "docs/halo3d.svg"]

WAVES = ["simulate", "examples/halo3d.toml", "--ranks", "128", "--iterations", "60", "--approach", "many:8:8"]

subprocess.run([sys.executable, "-m", "pready", *WAVES, "--plot", "docs/waves.png"], check=True, capture_output=True)
printed = subprocess.run(COMMAND, capture_output=True, text=True, check=True).stdout.strip("\n")
output = "\n".join(line.rstrip() for line in printed.splitlines())
text = README.read_text(encoding="utf-8")
fresh = re.sub(r"(```text\n).*?(\n```)", lambda m: m[1] + output + m[2], text, count=1, flags=re.DOTALL)
README.write_text(fresh, encoding="utf-8")
