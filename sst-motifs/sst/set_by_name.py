"""What ``--set sst.NAME=VALUE`` says of the job in the network, beside the fields of workload and machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pready.model.common.errors import PreadyError, shown
from pready.model.common.units import Unit, parse
from pready.sst.firefly import LARGEST_MESSAGE

OF_SST = "sst."
LEAST_PACKET = 64
ALLOCATIONS = ("linear", "random")
NETWORK = {
    "sst.allocation": "linear or random, of the seed: which host runs which ranks",
    "sst.background": "bytes of a message of another job, on as many hosts again (pready.Traffic)",
    "sst.load": "how much of its hosts' links that job uses while nothing is in its way, as 30 %; without, all it can",
    "sst.packet": "bytes of a packet: larger ones are faster and coarser; without, at most 2.5 % of the latency",
}


def set_by_name(given: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Several ``FIELD=VALUE``: those of other files, and the rest as options of `pready.sst.job.setup`. Raises
    PreadyError: an unknown name, or a value that is not valid."""
    others: list[str] = []
    options: dict[str, Any] = {}
    for text in given:
        name, _, value = (word.strip() for word in text.partition("="))
        if not name.startswith(OF_SST):
            others.append(text)
        elif name == "sst.allocation":
            if value not in ALLOCATIONS:
                raise PreadyError(f"--set {name} = {shown(value)}", valid=", ".join(ALLOCATIONS))
            options["allocation"] = value
        elif name == "sst.background":
            options["background"] = size(value, f"--set {name}")
        elif name == "sst.load":
            options["load"] = parse(value, Unit.SHARE, f"--set {name}")
        elif name == "sst.packet":
            options["packet"] = size(value, f"--set {name}", LEAST_PACKET)
        else:
            raise PreadyError(f"--set {shown(name)} is unknown", valid=", ".join(NETWORK))
    return others, options


def size(text: str, field: str, least: int = 1) -> int:
    """Whole bytes that a message may have, `least` of them."""
    found = parse(text, Unit.SIZE, field)
    if not least <= found <= LARGEST_MESSAGE or found != int(found):
        raise PreadyError(f"{field} = {shown(text)}", valid=f"whole bytes, {least} B to 2 GiB")
    return int(found)
