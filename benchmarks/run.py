"""All benchmarks: ``make bench``. Each also runs alone."""

import runpy
from pathlib import Path

OTHERS = (
    *("run.py", "compare_checkouts.py", "coverage_of_intervals.py", "fuzz.py", "random_workloads.py"),
    "what_ifs.py",
)
"""What measures no speed."""

for script in sorted(Path(__file__).parent.glob("*.py")):
    if script.name not in OTHERS:
        print(f"## {script.stem}\n", flush=True)
        runpy.run_path(str(script), run_name="__main__")
        print(flush=True)
