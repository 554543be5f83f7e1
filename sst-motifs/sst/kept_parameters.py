"""Calibrated parameters, kept as files in the user's cache."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.toml.reading import LARGEST_TOML, decoded, read_bytes
from pready.sst import library
from pready.sst.calibrate import calibrate
from pready.sst.firefly import Firefly
from pready.sst.run import How

CODE = ("calibrate.py", "config.py", "firefly.py")
"""Files beside this one that a fit depends on, besides SST and the element library."""


def read(path: Path) -> Firefly:
    """Parameters that were kept.

    Raises
    ------
    PreadyError
        Not such a file.
    """
    try:
        return Firefly.from_dict(json.loads(decoded(read_bytes(path, LARGEST_TOML), str(path))))
    except (json.JSONDecodeError, RecursionError) as error:
        raise PreadyError(f"is not JSON: {error}", source=str(path)) from None


def kept_at(machine: Machine, path: str, cache: str) -> Path:
    """Where the parameters of a machine are kept.

    The name changes with everything in the machine file, with SST, with the element library and with the
    code that fits.
    """
    digest = hashlib.sha256(machine.model_dump_json().encode())
    for text in (path, cache, library.fingerprint(library.find())):
        digest.update(text.encode())
    for name in CODE:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return library.cache_folder() / "parameters" / f"{digest.hexdigest()[:16]}.json"


def fitted(
    machine: Machine,
    path: str = "inter",
    cache: str = "hot",
    how: How | None = None,
    on_fit: Callable[[], None] | None = None,
) -> Firefly:
    """Parameters fitted to the machine by SST's own ping-pong: from the user's cache, or fitted and kept there.

    Parameters
    ----------
    on_fit
        Called before a fit, which takes a few seconds.

    Raises
    ------
    MissingSST
        There is no SST.
    """
    file = kept_at(machine, path, cache)
    try:
        return read(file)
    except PreadyError:  # not there, or cut short: fit again
        pass
    if on_fit is not None:
        on_fit()
    # Two ranks gain nothing from a second process, which costs a launcher's start for each of some twenty runs.
    found = calibrate(machine, path, cache, None if how is None else replace(how, processes=1, threads=1))
    file.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: others may be reading.
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as stream:
        json.dump(found.firefly.to_dict(), stream)
    Path(stream.name).replace(file)
    return found.firefly
