"""What the benchmark is asked under the counting clock: tests/data/calibrate/counted.toml."""

import struct
from math import prod
from pathlib import Path
from typing import Any

from tables import table_of

_TABLE = table_of("calibrate/counted")
JOBS: list[dict[str, Any]] = _TABLE["jobs"]
COSTS: dict[str, int] = _TABLE["costs"]
PLANS: dict[str, str] = _TABLE["plans"]
READY: dict[str, list[float]] = _TABLE["ready"]


def asked(job: dict[str, Any]) -> list[tuple[str, Any]]:
    """The lines of a job, in order, each with what is known of its record."""
    refused_plans = enumerate(job.get("refused_plans", []))
    return [
        *([("environment", job["environment"])] if "environment" in job else []),
        *((point["line"], point) for point in job.get("points", [])),
        *((f"exchange {words}", means) for words, *means in job.get("exchanges", [])),
        *((line, why) for line, why in job.get("refused", [])),
        *((f"exchange plan=refused{n} {words}", why) for n, (_, words, why) in refused_plans),
        *((line, None) for line in job.get("performed", [])),
    ]


def write_plans(folder: Path, job: dict[str, Any]) -> None:
    """Of exchanges, as the benchmark reads them: those of counted.toml, and those that a job has refused."""
    for name, text in PLANS.items():
        heads = [map(int, line.split()[1:]) for line in text.splitlines() if line.startswith("exchange")]
        ready = READY.get(name) or [20 + 37 * k % 101 * 2.5 + k / 1000 for k in range(sum(map(prod, heads)))]
        (folder / f"{name}.plan").write_text(text)
        (folder / f"{name}.ready").write_bytes(struct.pack(f"{len(ready)}d", *(us * 1e-6 for us in ready)))
    for n, (text, *_) in enumerate(job.get("refused_plans", [])):
        (folder / f"refused{n}.plan").write_text("".join(f"{line}\n" for line in text.split("; ") if line))
        (folder / f"refused{n}.ready").touch()
