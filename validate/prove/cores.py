"""Has every rank a core of its own?"""

from __future__ import annotations

from collections.abc import Iterable

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
        f"not judged: {ranks} ranks share {cores} core{'s' * (cores > 1)}, and of an exchange each waits "
        f"{format_time(wait)} ({share:.0%}) for a core, which the model leaves out"
    )
