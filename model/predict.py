"""The main job: Machine + Workload → Prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pready.model.advise import advise
from pready.model.approach import (
    INTERFACES,
    PART,
    PART_AM,
    PERSISTENT_MATCHED,
    Approach,
    enumerate_approaches,
    transport_counts,
)
from pready.model.closed_form import closed_form
from pready.model.evaluate import DRAWS, NOMINAL, PER_DRAW, Evaluation
from pready.model.libraries import LibraryProfile
from pready.model.libraries import library as library_by_name
from pready.model.machine import Machine
from pready.model.prediction import Prediction
from pready.model.version import VERSION
from pready.model.workload import Workload


def effective_library(machine: Machine, name: str | None = None) -> LibraryProfile:
    """The library profile to predict for.

    A library named by the user is taken at its profile's word; the machine's own is corrected by what
    was measured there ("does MPI_Pready send early?").
    """
    profile = library_by_name(name or machine.library.name)
    measured = machine.library.early_send
    if (
        measured is None
        or profile.part is None
        or profile.name != machine.library.name
        or measured.value == profile.early
    ):
        return profile
    does = "sends" if measured.value else "does not send"
    said = f"measured on {machine.name}: MPI_Pready {does} early ({measured.why})"
    return replace(profile, early=measured.value, why=said)


def approaches(machine: Machine, workload: Workload, library: LibraryProfile) -> list[tuple[Approach, bool]]:
    """Every approach to evaluate, and whether the library can do it as it is."""
    n = workload.n_partitions
    counts = list(workload.transport_partitions or transport_counts(n))
    contexts = machine.contexts.value
    out: list[tuple[Approach, bool]] = []
    for interface in INTERFACES:
        if interface in (PART, PART_AM):
            if interface is not library.part:
                continue
            allowed, vcis = library.transports(counts, workload.threads, n), library.part_vcis
        else:
            allowed, vcis = counts, library.max_vcis
        available = interface is not PERSISTENT_MATCHED  # a research compiler pass, in no library
        found = enumerate_approaches((interface,), workload.threads, allowed, contexts, vcis)
        out += [(a, available) for a in found]
    return out


def predict(
    machine: Machine,
    workload: Workload,
    *,
    library: str | None = None,
    seed: int = 0,
    nominal: int = NOMINAL,
    draws: int = DRAWS,
    per_draw: int = PER_DRAW,
) -> Prediction:
    """What every way of sending the buffer costs on a machine, and what to do.

    Parameters
    ----------
    machine, workload
        See `pready.model.machine.load` and `pready.model.workload.load`.
    library
        Name of a library profile; absent, the machine's own.
    seed
        Of arrivals and parameter draws; the same seed gives the same prediction.
    nominal, draws, per_draw
        Samples of arrivals at the parameters' values; draws of the parameters; samples per draw.

    Raises
    ------
    PreadyError
        An unknown library, or a workload outside what the machine describes.
    """
    profile = effective_library(machine, library)
    evaluation = Evaluation(machine, workload, seed, nominal, draws, per_draw)
    candidates = [
        (a, evaluation.predict(a, available=available)) for a, available in approaches(machine, workload, profile)
    ]
    delay = float(np.ptp(evaluation.ready[1 : 1 + evaluation.nominal], axis=1).mean())
    rate = delay / workload.partition_size
    bandwidth = 1 / machine.path(workload.path).segments[-1].G.value
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, bandwidth)
    return Prediction(
        version=VERSION,
        seed=seed,
        machine=machine.name,
        library=profile.name,
        workload=workload.model_dump(mode="json"),
        closed_form={"eta": form.eta, "gamma_s_per_byte": form.gamma, "delay_s": delay},
        approaches=[p for _, p in candidates],
        advice=advise(evaluation, profile, candidates),
    )
