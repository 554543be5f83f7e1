"""All probes, within a minute: what a launcher and its MPI library do, before anything is measured with them."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pready.calibrate.doctor import findings
from pready.calibrate.doctor.findings import Finding
from pready.calibrate.doctor.probe_job import START_S, Answers, run_probe
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.session import SETTINGS, MeasureError
from pready.files.cache import cache_folder

RANK_S = 5
"""Seconds after which a rank of a probe ends itself: ten times what a probe takes."""
BUDGET_S = 60.0 - RANK_S  # seconds in which probes begin
FIRST_S = RANK_S + round(START_S)
"""Seconds after which a rank of the first probe ends itself, which may have to wait for the launcher."""
QUICK = ("restart",)
"""The probe that `calibrate` and `prove` need besides the first."""


@dataclass(frozen=True)
class Diagnosis:
    launcher: str
    library: str
    """As ``MPI_Get_library_version`` says it, its first line."""
    profile: str
    """As ``--library`` takes it."""
    findings: tuple[Finding, ...]
    seconds: float


def diagnose(
    launcher: Launcher, built: Built, *, budget_s: float = BUDGET_S, only: Sequence[str] | None = None
) -> Diagnosis:
    """Run the probes, each in a job of its own.

    Parameters
    ----------
    only
        Names of `findings.PROBES`; absent, all.
    budget_s
        Seconds after which no further probe starts; a running one ends by `RANK_S`.

    Raises
    ------
    MeasureError
        The launcher does not start the ranks, or starts each as a job of its own.
    """
    begun = time.monotonic()
    first = run_probe(built.program, "environment", launcher, rank_s=FIRST_S, start_s=5)
    _check(first, launcher)
    about = first.get("environment")
    found = [findings.of_library(about), findings.of_threads(about), findings.of_ranks(about)]
    for probe in findings.PROBES if first.get("begun") > 1 else ():
        if (probe.partitioned and not about["partitioned"]) or (only is not None and probe.name not in only):
            continue
        left = budget_s - (time.monotonic() - begun) - RANK_S
        if left < 0:
            answers = Answers("not run")
        else:
            start_s = min(START_S, max(left, 1.0))
            answers = run_probe(built.program, probe.name, launcher, rank_s=RANK_S, start_s=start_s)
        found.append(findings.of_probe(probe, answers))
    if only is None:
        found += findings.known_bugs(about)
    text = str(about["library"])
    return Diagnosis(
        launcher.name,
        " ".join(text.partition("\n")[0].split()),
        findings.profile_from(text).full_name,
        tuple(found),
        time.monotonic() - begun,
    )


def _check(first: Answers, launcher: Launcher) -> None:
    """Refuse what cannot be diagnosed."""
    alone = len(first.values.get("begun", ()))
    if alone > 1:
        raise MeasureError(
            f"'{launcher.name}' starts {alone} processes that are each a job of one rank: it belongs to another MPI "
            "than the compiler; valid: --mpicc with the compiler of the launcher's MPI"
        )
    if first.get("environment") is None:
        late = "; it gave no sign" if not first.words else "; valid: a launcher of the compiler's MPI (--mpicc)"
        raise MeasureError(f"'{launcher.name}' starts no MPI program{late}", "\n".join(first.words))


def quick(launcher: Launcher, built: Built, *, cache: Path | None = None) -> Diagnosis:
    """The part of `diagnose` that measuring needs, kept per program, launcher, settings and job.

    Errors as of `diagnose`, and `MeasureError` for fewer than two ranks.
    """
    folder = (cache or cache_folder()) / "doctor"
    settings = {k: v for k, v in os.environ.items() if k.startswith((*SETTINGS, "SLURM_JOB_ID", "PBS_JOBID"))}
    words = [str(built.program), launcher.name, *launcher.command([]), platform.node()]
    key = "\0".join([*words, json.dumps(settings, sort_keys=True)])
    kept = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"
    try:
        data = json.loads(kept.read_text(encoding="utf-8"))
        return Diagnosis(**{**data, "findings": tuple(Finding(**f) for f in data["findings"])})
    except (OSError, ValueError, TypeError, KeyError):
        found = diagnose(launcher, built, only=QUICK)
    if any(f.name == "ranks" and f.says == "one rank" for f in found.findings):
        raise MeasureError(f"'{launcher.name}' starts one rank; valid: two or more, such as 'srun -n 2'")
    folder.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(asdict(found)), encoding="utf-8")
    part.replace(kept)
    return found
