"""The benchmarks that are read, and one run of one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pready.calibrate.fit.observations import Observations
from pready.calibrate.importers.command import Command

_SHARED_MEMORY = re.compile(
    r"(?:UCX_TLS=|btl |I_MPI_FABRICS[= ]|FI_PROVIDER[= ])(?:(?:posix|sysv|sm|shm|self|mm|vader|cma|knem)(?:[,:]|$))+$"
)
Kind = Literal["ping_pong", "stream", "pair_rates", "unused", "trains"]


@dataclass(frozen=True)
class Test:
    """A benchmark; `why` it is not used, if it is not."""

    name: str
    kind: Kind
    quantity: Literal["time", "rate", "messages"] = "time"
    why: str = ""


@dataclass(frozen=True)
class Measured:
    """One run of a benchmark, in SI units; what a file does not say is empty.

    Attributes
    ----------
    values
        Size, and seconds of a message or messages per second of all pairs; Netgauge has trains in their place.
    window
        Messages of a window with an answer; 0: none.
    near
        Why its ranks were on one node, by its file: its placement, or processes that waited beside them.
    heading, line
        The last line of text before its table, and the number of its title's line.
    """

    test: Test
    source: str
    version: str = ""
    pairs: int = 1
    values: tuple[tuple[float, float], ...] = ()
    window: int = 0
    on_gpus: bool = False
    command: Command | None = None
    near: str = ""
    trains: Observations | None = None
    heading: str = ""
    line: int = 0

    @property
    def kind(self) -> Kind:
        """The curve that it belongs to; of one pair, a rate is a stream."""
        return "stream" if (self.test.kind, self.pairs) == ("pair_rates", 1) else self.test.kind

    @property
    def said(self) -> str:
        """Its command."""
        return "" if self.command is None else self.command.text

    @property
    def hint(self) -> str:
        """What says that its ranks were on one node; empty: nothing."""
        of = self.command or Command("")
        if of.one_node:
            return f"its command line asks for one node: {self.said[:60]}"
        shared = next((each for each in of.settings if _SHARED_MEMORY.search(each)), "")
        return f"{shared} is memory that ranks of a node share" if shared else self.near

    @property
    def nodes(self) -> int:
        """How many nodes its command asks for, or its heading or path names; 0: it is not said."""
        told = re.search(r"(?<![a-z0-9.])(\d{1,5})[-_ ]?nodes?\b", f"{self.source[-80:]} {self.heading}".lower())
        asked = None if self.command is None else self.command.nodes
        return asked or (int(told[1]) if told else 0)
