"""What a launcher and its MPI library do, found out within a minute, before anything is measured with them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pready.calibrate.doctor import findings
from pready.calibrate.doctor.findings import Finding
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, read
from pready.calibrate.measure.session import environment_of, measure

EARLY = Point.of("early", delay_s=0.05, min_repeats=5, max_repeats=5, budget_s=1.0)
"""Its partitions are marked ready, the last one late, in a request that is used again; the bytes have to be right."""
PATIENCE_S = 15.0
"""Seconds beyond ten times its budget after which it hangs."""


@dataclass(frozen=True)
class Diagnosis:
    launcher: str
    library: str  # as ``MPI_Get_library_version`` says it, its first line
    profile: str  # as ``--library`` takes it
    findings: tuple[Finding, ...]
    seconds: float


def diagnose(launcher: Launcher, built: Built) -> Diagnosis:
    """Try the library in a job, which may crash or hang; errors as of `measure`."""
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        raw = Path(folder) / "early.jsonl"
        outcome = measure([EARLY], launcher, raw, 1.0, built=built, patience_s=PATIENCE_S)
        content = read(raw)
    about = content.environments[outcome.environment]
    found = findings.of_environment(about)
    if about["partitioned"]:
        failure = outcome.failures.get(str(EARLY), "")
        early = next(iter(content.select("early")), None)
        found += [findings.of_early(early, failure), *findings.known_bugs(about)]
    text = str(about["library"])
    library = " ".join(text.partition("\n")[0].split())
    profile = findings.profile_from(text).full_name
    return Diagnosis(launcher.name, library, profile, tuple(found), time.monotonic() - begun)


def quick(launcher: Launcher, built: Built) -> list[Finding]:
    """What to know before measuring; errors as of `environment_of`."""
    return findings.of_environment(environment_of(launcher, built))
