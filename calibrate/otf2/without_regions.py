"""The step of a run without parallel regions: totals divided by a given number of steps."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pready.calibrate.capture.files import COLLECTIVES, SENDS, Process, Run
from pready.calibrate.capture.patterns import no_messages, per_step, recognise
from pready.calibrate.capture.run_summary import time_in_mpi, time_within_mpi
from pready.calibrate.capture.step import Exchange, Step
from pready.calibrate.capture.timeline import most_common
from pready.model.common.errors import PreadyError


def step_of_totals(run: Run, threads: int, steps: int) -> Step:
    """One exchange per step, with all messages of each pair of ranks; a PreadyError where ranks are missing, send
    nothing to others, or leave no time to compute."""
    source, ranks = str(run.folder), run.all_ranks()
    totals = [_sent(p) for p in ranks]
    if not any(totals):
        raise no_messages(source)
    exact = all(size % steps == 0 for sent in totals for size, _ in sent.values())
    within, in_mpi = (float(np.mean([f(p) for p in ranks])) / steps for f in (time_within_mpi, time_in_mpi))
    if within - in_mpi < 1e-9:  # of the clock
        raise PreadyError("computes nothing: all of its time is in MPI", valid="computing in a step", source=source)
    exchange = Exchange(
        name="",
        pattern=recognise([per_step(sent, steps) for sent in totals]),
        times=np.full((1, 1), within - in_mpi),
        exchange_s=in_mpi,
        collectives=float(np.mean([p.of(*COLLECTIVES).sum() for p in ranks])) / steps,
    )
    said = [f"no parallel regions: a step is the run divided by {steps}, time outside MPI counts as computing"]
    if not exact:
        said.append(f"bytes to a rank are no multiple of {steps} steps: the mean is used and may contain set-up")
    if exchange.collectives >= 0.5:
        said.append(f"{exchange.collectives:.0f} collectives per step count as waiting, not as computing")
    return Step(
        exchanges=(exchange,),
        ranks=len(ranks),
        ranks_per_node=most_common(list(Counter(p.host for p in ranks).values())),
        threads=threads,
        steps=steps,
        step_s=within,
        share=1.0,
        notes=tuple(said),
    )


def _sent(process: Process) -> dict[int, tuple[int, int]]:
    """Bytes and messages by peer over the whole run."""
    rows = process.records[process.of(*SENDS)]
    out: dict[int, tuple[int, int]] = {}
    for who, what in rows[["who", "what"]].tolist():
        if who >= 0 and who != process.rank:
            size, count = out.get(who, (0, 0))
            out[who] = (size + what, count + 1)
    return out
