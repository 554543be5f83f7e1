"""The path between ranks of one node, added to a machine whose path between nodes is known."""

from __future__ import annotations

from pathlib import Path

from pready.calibrate.machine.calibration import Calibration
from pready.calibrate.machine.merge import Merged, base, merged
from pready.calibrate.machine.values.observations_of import load
from pready.model.common.errors import PreadyError
from pready.model.machine.writing import document

MEASUREMENTS = ("overlap", "pingpong", "prtt", "receive")
"""The measurements of a path; a machine has everything else once."""


def added(path: Path, done: Calibration, raw: Path) -> Merged:
    """The machine file at `path` with the path measured by two ranks on one node as its `[intra]`. Raises PreadyError:
    the two ranks were on two hosts, by the measurements in `raw`; or a machine file that is none."""
    hosts = list(dict.fromkeys(map(str, load(raw).environments[done.environment].get("hosts", ()))))
    if len(hosts) > 1:
        raise PreadyError(
            f"--intra with ranks on {' and '.join(hosts)}", valid='two ranks on one node, such as "srun -N 1 -n 2"'
        )
    return merged(base(path, "--intra"), f"{path} with {raw}", {"intra": document(done.described.machine)["inter"]})
