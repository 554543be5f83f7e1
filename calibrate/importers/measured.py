"""The benchmarks that are read, and one run of one."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from pready.calibrate.fit.observations import Observations
from pready.calibrate.importers.command import Command

_SHARED_MEMORY = re.compile(
    r"(?:UCX_TLS=|btl |I_MPI_FABRICS[= ]|FI_PROVIDER[= ])(?:(?:posix|sysv|sm|shm|self|mm|vader|cma|knem)(?:[,:]|$))+$"
)
Kind = Literal["ping_pong", "stream", "both_ways", "pair_rates", "threaded", "puts", "put_streams", "unused", "trains"]


@dataclass(frozen=True)
class Test:
    """A benchmark, whose figures count so many messages (2: both ranks send); `why` it is not used, if it is not."""

    name: str
    kind: Kind
    quantity: Literal["time", "rate", "messages"] = "time"
    messages: int = 1
    why: str = ""


@dataclass(frozen=True)
class Measured:
    """One run of a benchmark, in SI units; what a file does not say is empty.

    Attributes
    ----------
    key
        Pairs, threads or synchronisation, where the kind has several curves.
    values
        Size, and seconds of a message or messages per second; Netgauge has trains in their place.
    window
        Messages of a window with an answer; 0: none.
    memory
        Where the buffers were: "CUDA" and the like; empty: the hosts' memory.
    near
        Why its ranks were on one node, by its file: its placement, or processes that waited beside them.
    heading, line
        The last line of text before its table, and the number of its title's line.
    quoted
        Whether it stands within a document, whose headings and prose say of what it is.
    """

    test: Test
    source: str
    version: str = ""
    key: Hashable = None
    values: tuple[tuple[float, float], ...] = ()
    window: int = 0
    memory: str = ""
    command: Command | None = None
    near: str = ""
    trains: Observations | None = None
    heading: str = ""
    line: int = 0
    quoted: bool = False

    @property
    def kind(self) -> tuple[Kind, Hashable]:
        """The curve that it belongs to; of one pair, a rate is a stream."""
        return ("stream", None) if (self.test.kind, self.key) == ("pair_rates", 1) else (self.test.kind, self.key)

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
