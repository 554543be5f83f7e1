"""The workload file of a captured run, and the file of its thread times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import tomlkit

from pready.calibrate.capture.arrivals_fit import named
from pready.calibrate.capture.patterns import Recognised
from pready.calibrate.capture.step import Exchange, Step
from pready.model.common.arrays import Array
from pready.model.common.units import Unit, format_exact
from pready.model.workload.edges import PATTERNS
from pready.model.workload.fields import FORMAT, MOST_EXCHANGES

MOST_ROWS = 20_000
"""Most rows of thread times; more are thinned evenly."""
MOST_LISTED = 64
"""Most ranks with neighbour lists in the workload file itself."""


class Writer:
    """Makes the text of a workload file with this stem, and passes names and contents of further files to `beside`.
    `arrivals`: "auto": a named distribution where a test does not reject it, else the times themselves; "trace": these
    always."""

    def __init__(self, stem: str, beside: Callable[[str, bytes], None], arrivals: str, seed: int) -> None:
        self.stem, self.beside, self.arrivals, self.seed = stem, beside, arrivals, seed
        self.said: list[str] = []
        """Notes on what was changed."""
        self.models: Counter[str] = Counter()
        """How often each model of arrivals was chosen."""

    def text(self, step: Step, name: str, comment: str) -> str:
        """The workload file."""
        step = self._at_most(step)
        document = tomlkit.document()
        for line in comment.splitlines():
            document.add(tomlkit.comment(line))
        document.add("format", FORMAT)
        document.add("name", name)
        document.add("threads", step.threads)
        document.add("iterations", step.steps)
        self._today(document, step)
        if step.ranks > 1 and (step.ranks_per_node == 1 or not step.sweeps):
            document.add("ranks_per_node", step.ranks_per_node)
        elif step.ranks_per_node >= step.ranks > 1:
            document.add("path", "intra")
        elif step.ranks_per_node > 1:
            self.said.append("a sweep is predicted with a rank to a node: ranks_per_node is left out")
        grids = {e.pattern.grid for e in step.exchanges} - {None}
        (grid,) = grids if len(grids) == 1 else (None,)
        if grid is not None:
            document.add("grid", list(grid[:2] if step.sweeps else grid))
        elif step.ranks > 2 and any(e.pattern.name != "neighbours" for e in step.exchanges):
            document.add("grid", [step.ranks])
        document.add("share", round(step.share, 4))
        captured = tomlkit.inline_table()
        captured.add("step", format_exact(step.modelled_s, Unit.TIME))
        captured.add("exchanges", format_exact(step.exchange_s, Unit.TIME))
        if step.shares_cores:
            captured.add("shared_cores", True)
        if step.chain is not None:
            captured.add("blocks", step.chain.blocks)
        document.add("captured", captured)
        if len(step.exchanges) == 1:
            self._exchange(document, step.exchanges[0], step, 0)
            return tomlkit.dumps(document)
        array = tomlkit.aot()
        for number, exchange in enumerate(step.exchanges, 1):
            table = tomlkit.table()
            table.add("name", exchange.name or f"exchange {number}")
            table["name"].comment(exchange.pattern.said)
            self._exchange(table, exchange, step, number)
            if exchange.depends and number > 1:
                table.add("depends", tomlkit.item(True).comment("sends what the exchange before it brought"))
            array.append(table)
        document.add("exchanges", array)
        return tomlkit.dumps(document)

    def _at_most(self, step: Step) -> Step:
        """The exchanges that take longest, if there are more than a file may have; others count as computing."""
        if len(step.exchanges) <= MOST_EXCHANGES:
            return step
        longest = {id(e) for e in sorted(step.exchanges, key=lambda e: -e.exchange_s)[:MOST_EXCHANGES]}
        kept: list[Exchange] = []
        passed = 0.0
        for e in step.exchanges:
            if id(e) in longest:
                kept.append(replace(e, times=e.times + passed))
            passed = 0.0 if id(e) in longest else passed + e.last_s + e.exchange_s
        kept[0] = replace(kept[0], times=kept[0].times + passed)
        self.said.append(f"{len(step.exchanges) - MOST_EXCHANGES} exchanges, the shortest, count as computing")
        return replace(step, exchanges=tuple(kept))

    def _today(self, document: Any, step: Step) -> None:
        """How the program sends, and the parts of a buffer that it sends in."""
        if step.today == "blocking" and step.ranks_per_node > 1:
            self.said.append("sends that block are taken as nonblocking ones: ranks share a node")
        elif step.today != "nonblocking":
            document.add("today", step.today)
        if _parts(step) > 1:
            document.add("partitions_per_thread", _parts(step))

    def _exchange(self, into: Any, exchange: Exchange, step: Step, number: int) -> None:
        self._pattern(into, exchange.pattern, step, number)
        into.add("receiver", "computing" if exchange.compute_s > 0 else "waiting")
        compute, arrivals, why = self._arrivals(exchange, step, number)
        if exchange.overlapped and exchange.pattern.name != "sweep3d":
            share = min(1.0, exchange.inside_s / float(exchange.times.mean()))
            into.add("interior", tomlkit.item(f"{100 * share:.4g} %").comment("between the sends and the wait"))
        if exchange.pack_s and exchange.sent:
            rate = format_exact(exchange.sent / exchange.pack_s, Unit.BANDWIDTH)
            into.add("pack", tomlkit.item(rate).comment("by one thread, between the sends"))
        into.add("compute", compute)
        into.add("arrivals", arrivals)
        if why:
            into["arrivals"].comment(why)
        self.models[str(arrivals["model"])] += 1

    def _pattern(self, into: Any, pattern: Recognised, step: Step, number: int) -> None:
        size, partitions = pattern.faces[0], step.threads * _parts(step)
        if pattern.grid is None and pattern.name not in ("neighbours", "bcast") and size % partitions == 0:
            into.add("pattern", pattern.name)
            if "both_ways" in PATTERNS[pattern.name].fields:
                into.add("both_ways", True)
            into.add("buffer", f"{size} B")
        elif pattern.grid is None:
            into.add("pattern", "neighbours")
            lists = pattern.lists
            if len(lists) > MOST_LISTED:
                lines = (" ".join(f"{to}:{b}" for to, b in mine) for mine in lists)
                into.add("neighbour_list", self._file("neighbours", number, "txt", ("\n".join(lines) + "\n").encode()))
            else:
                into.add("neighbour_list", [[{"to": to, "size": f"{b} B"} for to, b in mine] for mine in lists])
        elif pattern.name == "sweep3d":
            into.add("pattern", "sweep3d")
            into.add("boundaries", "open")
            into.add("blocks", pattern.blocks)
            whole = -(-size // partitions) * partitions
            if whole != size:
                self.said.append(f"buffer of {size} B is rounded to {whole} B, a multiple of {partitions} partitions")
            into.add("buffer", f"{whole} B")
        else:
            into.add("pattern", pattern.name)
            into.add("boundaries", pattern.boundaries)
            into.add("faces", _filled(pattern.faces, max(pattern.faces)))
            if pattern.name == "halo3d26":
                edge = max(pattern.edges)
                into.add("edges", _filled(pattern.edges, edge))
                into.add("corner", f"{pattern.corner or edge} B")

    def _arrivals(self, exchange: Exchange, step: Step, number: int) -> tuple[Any, Any, str]:
        """The tables [compute] and [arrivals], and why these; the times go to a file of their own."""
        found = named(exchange.times, self.seed) if self.arrivals == "auto" and exchange.region else None
        compute, arrivals = tomlkit.inline_table(), tomlkit.inline_table()
        if not exchange.region:
            compute.add("time", format_exact(exchange.compute_s, Unit.TIME))
            arrivals.add("model", "none")
            return compute, arrivals, ""
        file = self._file("arrivals", number, "npy", _npy(exchange.times))
        compute.add("time", format_exact(found.time_s if found else exchange.compute_s, Unit.TIME))
        if found is not None:
            for key, value in found.fields.items():
                arrivals.add(key, value)
            return compute, arrivals, f"{found.because}; the times are in {file}"
        same = exchange.threads == step.threads
        why = "as asked" if self.arrivals != "auto" else "no simple distribution fits"
        if not same:
            why += f"; of {exchange.threads} threads, so their density"
        for key, value in (("model", "trace" if same else "kde"), ("file", file), ("unit", "s")):
            arrivals.add(key, value)
        return compute, arrivals, f"the captured times: {why}"

    def _file(self, what: str, number: int, ending: str, content: bytes) -> str:
        """The name of a file beside, with this content."""
        name = f"{self.stem}-{what}{f'-{number}' if number else ''}.{ending}"
        self.beside(name, content)
        return name


def _parts(step: Step) -> int:
    """Parts of a buffer that each thread sends today, at least 1."""
    if step.today not in ("several messages", "partitioned"):
        return 1
    most = max(e.messages if step.today == "several messages" else e.partitions for e in step.exchanges)
    return max(1, -(-most // step.threads))


def _filled(sizes: tuple[int, int, int], otherwise: int) -> list[str]:
    """Sizes as text; an axis of one rank sends nothing, so `otherwise` fills its place."""
    return [f"{size or otherwise} B" for size in sizes]


def _npy(times: Array) -> bytes:
    out = BytesIO()
    np.save(out, times[np.linspace(0, len(times) - 1, min(len(times), MOST_ROWS)).astype(np.intp)], allow_pickle=False)
    return out.getvalue()
