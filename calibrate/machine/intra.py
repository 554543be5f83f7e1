"""The path between ranks of one node, added to a machine whose path between nodes is known."""

from __future__ import annotations

from pathlib import Path

from pready.calibrate.machine.calibration import Calibration
from pready.calibrate.machine.merge import Merged, merged
from pready.calibrate.machine.values.observations_of import load
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.writing import document
from pready.model.toml.reading import LARGEST_TOML, decoded, parsed_toml, read_bytes, validated

PART = "intra"
MEASUREMENTS = ("overlap", "pingpong", "prtt", "receive")
"""The measurements of a path; a machine has everything else once."""


def base(path: Path, option: str = "--intra") -> str:
    """The text of the machine file that something is added to.

    Raises
    ------
    PreadyError
        There is none, or it is no machine.
    """
    if not path.exists():
        raise PreadyError(
            f"{option} adds to a machine file, and there is none",
            valid="first 'pready calibrate' with two ranks on two nodes, into the same file",
            source=str(path),
        )
    text = decoded(read_bytes(path, LARGEST_TOML), str(path))
    validated(Machine, parsed_toml(text.encode(), str(path)), str(path))
    return text


def added(path: Path, done: Calibration, raw: Path) -> Merged:
    """The machine file at `path` with the measured path as its `[intra]`; an existing one is replaced.

    Parameters
    ----------
    done
        Of two ranks on one node.
    raw
        The measurements, for the hosts.

    Raises
    ------
    PreadyError
        The two ranks were on two hosts; or a machine file that is none.
    """
    text = base(path)
    hosts = list(dict.fromkeys(map(str, load(raw).environments[done.environment].get("hosts", ()))))
    if len(hosts) > 1:
        raise PreadyError(
            f"--intra with ranks on {' and '.join(hosts)}", valid='two ranks on one node, such as "srun -N 1 -n 2"'
        )
    out = merged(text, str(path), {PART: document(done.described.machine)["inter"]}, (PART,))
    validated(Machine, parsed_toml(out.text.encode(), str(path)), f"{path} with {raw}")
    return out
