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

from platformdirs import user_cache_path

from pready.calibrate.doctor import findings
from pready.calibrate.doctor.findings import Finding
from pready.calibrate.doctor.probe_build import build_probes
from pready.calibrate.doctor.probe_job import START_S, Answers, run_probe
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.session import SETTINGS, MeasureError

BUDGET_S = 55.0
RANK_S = 5
"""Seconds after which a rank of a probe ends itself: ten times what a probe takes."""
ABOUT_S = 20
"""The same for the first, which may have to wait for the launcher."""
QUICK = ("restart",)
"""The probe that `calibrate` and `prove` need besides the first."""


@dataclass(frozen=True)
class Diagnosis:
    """What was found, a line each."""

    launcher: str
    library: str
    """As ``MPI_Get_library_version`` says it, its first line."""
    profile: str
    """As ``--library`` takes it."""
    findings: tuple[Finding, ...]
    seconds: float


def diagnose(
    launcher: Launcher,
    mpicc: Sequence[str],
    *,
    budget_s: float = BUDGET_S,
    only: Sequence[str] | None = None,
    cache: Path | None = None,
) -> Diagnosis:
    """Run the probes, each in a job of its own.

    Parameters
    ----------
    only
        Probes of `findings.PROBES`, and "put"; absent, all.
    budget_s
        Seconds after which no further probe starts; a running one ends by `RANK_S`.

    Raises
    ------
    BuildError
        The compiler failed.
    MeasureError
        The launcher does not start the ranks, or starts each as a job of its own.
    """
    begun = time.monotonic()
    program = build_probes(mpicc, cache=cache)
    about = run_probe(program, "about", launcher, rank_s=ABOUT_S, start_s=5)
    _check(about, launcher)
    found = [findings.of_library(about), findings.of_threads(about), findings.of_ranks(about)]
    one_node = len({r["host"] for r in about.values["rank"]}) == 1
    enough = about.get("begun") > 1
    wanted = [*(findings.PROBES if about.get("partitioned") else ()), "put"] if enough else []
    for probe in wanted:
        if only is not None and probe not in only:
            continue
        left = budget_s - (time.monotonic() - begun) - RANK_S
        if left < 0:
            answers = Answers("not run")
        else:
            answers = run_probe(program, probe, launcher, rank_s=RANK_S, start_s=min(START_S, max(left, 1.0)))
        if probe == "put":
            found.append(findings.of_put(answers, one_node=one_node))
        else:
            found.append(findings.PROBES[probe](answers))
    text = str(about.get("library"))
    return Diagnosis(
        launcher.name,
        " ".join(text.partition("\n")[0].split()),
        findings.profile_from(text).full_name,
        tuple(found),
        time.monotonic() - begun,
    )


def _check(about: Answers, launcher: Launcher) -> None:
    """Refuse what cannot be diagnosed."""
    if about.ending == "not begun" or about.get("library") is None or not about.values.get("rank"):
        late = "; it gave no sign" if not about.words else "; valid: a launcher of the compiler's MPI (--mpicc)"
        raise MeasureError(f"'{launcher.name}' starts no MPI program{late}", "\n".join(about.words))
    alone = len(about.values["begun"])
    if alone > 1:
        raise MeasureError(
            f"'{launcher.name}' starts {alone} processes that are each a job of one rank: it belongs to another MPI "
            "than the compiler; valid: --mpicc with the compiler of the launcher's MPI"
        )


def quick(launcher: Launcher, mpicc: Sequence[str], *, cache: Path | None = None) -> Diagnosis:
    """The part of `diagnose` that measuring needs, kept per compiler, launcher, settings and job.

    Errors as of `diagnose`, and `MeasureError` for fewer than two ranks.
    """
    folder = (cache or user_cache_path("pready")) / "doctor"
    program = build_probes(mpicc, cache=cache)
    settings = {k: v for k, v in os.environ.items() if k.startswith((*SETTINGS, "SLURM_JOB_ID", "PBS_JOBID"))}
    words = [str(program), launcher.name, *launcher.command([]), platform.node(), json.dumps(settings, sort_keys=True)]
    kept = folder / f"{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:20]}.json"
    try:
        data = json.loads(kept.read_text(encoding="utf-8"))
        return Diagnosis(**{**data, "findings": tuple(Finding(**f) for f in data["findings"])})
    except (OSError, ValueError, TypeError, KeyError):
        found = diagnose(launcher, mpicc, only=QUICK, cache=cache)
    few = next((f for f in found.findings if f.name == "ranks" and f.says == "one rank"), None)
    if few is not None:
        raise MeasureError(f"'{launcher.name}' starts one rank; valid: two or more, such as 'srun -n 2'")
    folder.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(asdict(found)), encoding="utf-8")
    part.replace(kept)
    return found
