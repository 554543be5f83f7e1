"""The benchmarks that are read, and one run of one."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pready.calibrate.fit.observations import Observations
from pready.calibrate.importers.command import NO_COMMAND, Command

_SHARED_MEMORY = re.compile(
    r"(?:UCX_TLS=|btl |I_MPI_FABRICS[= ]|FI_PROVIDER[= ])(?:(?:posix|sysv|sm|shm|self|mm|vader|cma|knem)(?:[,:]|$))+$"
)
Kind = Literal["ping_pong", "stream", "pair_rates", "trains"]


class Test(NamedTuple):
    """A benchmark that is used."""

    name: str
    kind: Kind


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
    command: Command = NO_COMMAND
    near: str = ""
    trains: Observations | None = None
    heading: str = ""
    line: int = 0

    @property
    def kind(self) -> Kind:
        """The curve that it belongs to; of one pair, a rate is a stream."""
        return "stream" if (self.test.kind, self.pairs) == ("pair_rates", 1) else self.test.kind

    @property
    def hint(self) -> str:
        """What says that its ranks were on one node; empty: nothing."""
        if self.command.one_node:
            return f"its command line asks for one node: {self.command.text[:60]}"
        shared = next((each for each in self.command.settings if _SHARED_MEMORY.search(each)), "")
        return f"{shared} is memory that ranks of a node share" if shared else self.near

    @property
    def nodes(self) -> int:
        """How many nodes its command asks for, or its heading or path names; 0: it is not said."""
        told = re.search(r"(?<![a-z0-9.])(\d{1,5})[-_ ]?nodes?\b", f"{self.source[-80:]} {self.heading}".lower())
        return self.command.nodes or (int(told[1]) if told else 0)


Row = tuple[Hashable, Measured, float, float]  # a figure: what its run is known by, the run, a size, its time or rate


def gathered(rows: Iterable[Row]) -> list[Measured]:
    """The runs of single figures; a size that comes again is another run's."""
    seen = Counter[tuple[Hashable, float]]()
    runs: dict[tuple[Hashable, int], tuple[Measured, list[tuple[float, float]]]] = {}
    for known_by, run, size, value in rows:
        seen[known_by, size] += 1
        runs.setdefault((known_by, seen[known_by, size]), (run, []))[1].append((size, value))
    return [replace(run, values=tuple(sorted(values))) for run, values in runs.values()]
