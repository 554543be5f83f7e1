"""Has every rank a core of its own?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pready.model.common.units import format_time
from pready.validate.prove.performed import Performed


def shared_cores(performed: Iterable[Performed]) -> str | None:
    """Why ranks that share cores are not judged; None if each has its own."""
    shared = [p for p in performed if p.ranks_here > p.cores]
    if not shared:
        return None
    ranks, cores = shared[0].ranks_here, shared[0].cores
    waits = [p.core_wait_s / p.steps for p in shared]
    wait = float(np.median(waits))
    share = float(np.median([w / np.median(p.communication_s) for w, p in zip(waits, shared, strict=True)]))
    return (
        f"{_sharing(ranks, cores)}, and of an exchange each waits {format_time(wait)} ({100 * share:.0f} %) for a "
        "core, which the model leaves out"
    )


def shared_before(about: Mapping[str, Any]) -> str | None:
    """What to say of ranks that share cores before they are measured; None: each has its own, or it is not known."""
    hosts, cores = about.get("hosts", ()), int(about.get("cores_online") or 0)
    ranks = max(Counter(hosts).values(), default=0)
    if not cores or ranks <= cores:
        return None
    return f"{_sharing(ranks, cores)}: the result will be undecided; give each rank a core (fewer ranks, more nodes)"


def _sharing(ranks: int, cores: int) -> str:
    return f"{ranks} ranks share {cores} core{'s' * (cores > 1)}"
