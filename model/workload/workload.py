"""The Workload: what the application does, as a TOML file.

::

    format = 2
    threads = 8
    partitions_per_thread = 4
    buffer = "1 MiB"            # per peer; or faces = ["2 MiB", "512 KiB", "512 KiB"], along x, y, z
    pattern = "halo3d"

    [compute]
    time = "1 ms"               # of one thread, for all its partitions

    [arrivals]
    model = "laggard"
    late_by = "4 %"

A step of several exchanges lists them in order; pattern and partitions are by default those at the top::

    [[exchanges]]
    name = "faces"
    faces = ["2 MiB", "512 KiB", "512 KiB"]
    compute = { time = "1 ms" }
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ModelWrapValidatorHandler, ValidationError, model_validator

from pready.model.approach.vcis import check_transport_partitions
from pready.model.common import units
from pready.model.common.errors import PreadyError, printable, shown
from pready.model.toml import dotted
from pready.model.toml.reading import field_names, one_line, parsed_toml, read_toml, validated
from pready.model.workload.arrivals import WIDTHS, Drawn, Laggard, NoArrivals, Uniform
from pready.model.workload.edges import PATTERNS, WITH_ENDS
from pready.model.workload.exchange import EACH_ITS_OWN, ComputeTime, SizedNeighbour
from pready.model.workload.fields import Fields

LARGEST_EXCHANGE = 4_000_000
"""User partitions × peers of one rank. Above it, an iteration has more messages than any NIC queue."""


class Workload(Fields):
    """What one rank does in one iteration, and with whom it talks."""

    @model_validator(mode="wrap")
    @classmethod
    def _buffer(cls, data: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """One without a buffer for all neighbours has some size to take it from, which `_consistent` looks for."""
        if not isinstance(data, dict) or data.get("buffer") is not None:
            return read(data)
        made = read({**data, "buffer": units.SI(1.0)})
        made.model_fields_set.discard("buffer")
        return made

    @model_validator(mode="after")
    def _receiver(self) -> Workload:
        """In a halo or a sweep who receives computes as who sends does; not said, it stays an open choice. What it
        does with what it receives is none."""
        if "receiver" not in self.model_fields_set and self.consume is not None:
            self.__dict__["receiver"] = "consuming"
        elif "receiver" not in self.model_fields_set and self.pattern in WITH_ENDS:
            self.__dict__["receiver"] = "computing"
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Workload:
        n = self.n_partitions
        if "buffer" not in self.model_fields_set:
            self.__dict__["buffer"] = self._largest
        if self.exchanges is not None:
            self._exchanges_consistent()
            return self
        self._ranks_consistent()
        self._sizes_consistent()
        unlike = self.faces is not None or self._listed_sizes
        if not unlike and (self.buffer != int(self.buffer) or self.buffer % n):
            nearest = max(1, round(self.buffer / n)) * n
            raise PreadyError(
                f"buffer = {self.buffer:.12g} B is not divided by "
                f"{self.threads} × {self.partitions_per_thread} = {n} user partitions",
                valid=f"a multiple of {n} B, such as {nearest} B",
            )
        if n * self.peers > LARGEST_EXCHANGE:
            raise PreadyError(
                f"threads × partitions_per_thread × peers = {n * self.peers}",
                valid=f"at most {LARGEST_EXCHANGE}",
            )
        if self.receive_partitions is not None and any(size % self.receive_partitions for size in self.sends):
            raise PreadyError(
                f"receive_partitions = {self.receive_partitions} does not divide "
                f"{max(s for s in self.sends if s % self.receive_partitions):g} B for a neighbour",
                valid="a divisor of the bytes that each neighbour gets",
            )
        self._computing_consistent()
        for t in self.transport_partitions or ():
            check_transport_partitions(t, n)
        arrivals = self.arrivals
        if self.on_gpu and not isinstance(arrivals, NoArrivals):
            raise PreadyError(
                f"arrivals: model = {shown(arrivals.model)} with compute.device = 'gpu'",
                valid="no [arrivals]: the waves say when partitions are ready",
            )
        if isinstance(arrivals, Drawn) and arrivals.relative and self.thread_time == 0:
            raise PreadyError(
                f"arrivals: model = {shown(self.arrivals.model)} scales with the compute time, which is 0",
                valid="a [compute] table with a time or an arithmetic intensity",
            )
        if isinstance(arrivals, Laggard) and arrivals.spread is not None and arrivals.spread**2 >= self.threads - 1:
            raise PreadyError(
                f"arrivals.spread = {100 * arrivals.spread:g} % of one late thread in {self.threads}",
                valid=f"less than {100 * math.sqrt(self.threads - 1):.4g} %; or late_by or delay",
            )
        return self

    def _computing_consistent(self) -> None:
        """What is computed while messages are on their way, and packing."""
        if self.today == "overlapped" and self.interior is None:
            raise PreadyError(
                "today = 'overlapped' without interior",
                valid='interior, the share of the computing between the sends and the wait, such as "80 %"',
            )
        if self.packed_by != "one" and self.pack is None:
            raise PreadyError(f"packed_by = {shown(self.packed_by)} without pack", valid='pack, such as "1.5 GB/s"')
        refused = f"pattern = {shown(self.pattern)}" if self.pattern in ("sweep3d", "bcast") else ""
        refused = "compute.device = 'gpu'" if self.on_gpu else "consume" if self.consume is not None else refused
        given = {"interior": self.interior, "pack": None if refused == "consume" else self.pack}
        for name, value in given.items():
            if value is not None and refused:
                raise PreadyError(f"{name} with {refused}", valid=f"no {name}")
        if self.interior is not None and self.thread_time == 0:
            raise PreadyError(
                f"interior = {100 * self.interior:g} % of a compute time of 0", valid="a [compute] table with a time"
            )

    def _ranks_consistent(self) -> None:
        pattern = f"with pattern = {shown(self.pattern)}"
        listed = self.pattern == "neighbours"
        if (self.neighbours is not None) + (self.neighbour_list is not None) != listed:
            given = f"neighbour_list = {shown(self.neighbour_list)}" if self.neighbour_list is not None else ""
            raise PreadyError(
                f"{given or f'neighbours = {shown(self.neighbours)}'} {pattern}",
                valid="either neighbours, a count, or neighbour_list with pattern 'neighbours', neither with any other",
            )
        lists = self.neighbour_lists
        if lists is not None and not any(lists):
            raise PreadyError("neighbour_list is empty", valid="at least one neighbour")
        for name in dict.fromkeys(name for of in PATTERNS.values() for name in of.fields):
            given_ = getattr(self, name) != type(self).model_fields[name].default
            if given_ and name not in PATTERNS[self.pattern].fields:
                able = " or ".join(repr(known) for known, of in PATTERNS.items() if name in of.fields)
                raise PreadyError(f"{name} = {shown(getattr(self, name))} {pattern}", valid=f"pattern {able}")
        self._nodes_consistent()
        self._receiver_consistent()
        if (blocks := self.blocks_of_threads) is not None and math.prod(blocks) != self.threads:
            raise PreadyError(
                f"thread_grid = {list(blocks)} has {math.prod(blocks)} threads",
                valid=f"{self.threads}, the workload's threads",
            )

    def _receiver_consistent(self) -> None:
        if (self.receiver == "consuming") != (self.consume is not None):
            missing = "without consume" if self.consume is None else "beside consume"
            raise PreadyError(
                f"receiver = {shown(self.receiver)} {missing}",
                valid='consume = { time = "20 us" } with receiver = "consuming" or none',
            )
        refused = f"pattern = {shown(self.pattern)}" if self.pattern in ("sweep3d", "bcast") else ""
        if self.blocks_of_threads is not None:
            refused = f"thread_grid = {list(self.blocks_of_threads)}"
        if self.on_gpu:
            refused = "compute.device = 'gpu'"
        if self.consume is not None and refused:
            raise PreadyError(f"receiver = 'consuming' with {refused}", valid="receiver = 'computing'")
        if self.receive_partitions is not None and refused:
            raise PreadyError(f"receive_partitions = {self.receive_partitions} with {refused}", valid="one of them")

    def _sizes_consistent(self) -> None:
        each = [("edge", self.edge), ("corner", self.corner)]
        each += [(f"{n}[{i}]", size) for n in ("faces", "edges") for i, size in enumerate(getattr(self, n) or ())]
        each += [("neighbour_list: size", s) for row in (self._lists.sizes if self._listed_sizes else ()) for s in row]
        for name, size in each:
            if size is not None and size != int(size):
                raise PreadyError(f"{name} = {size:g} B", valid="whole bytes")
        if self.edge is not None and self.edges is not None:
            raise PreadyError("edge beside edges", valid="edge, of all, or edges, along x, y, z")
        if self._all_listed and self.buffer != self._largest:
            raise PreadyError(
                f"buffer = {self.buffer:g} B beside a neighbour_list with a size for every neighbour",
                valid="the sizes in neighbour_list alone",
            )
        if self.faces is None:
            return
        if self.buffer != max(self.faces):
            raise PreadyError(f"buffer = {self.buffer:g} B beside faces", valid="faces alone")
        edges = self.edge is not None or self.edges is not None
        if self.pattern == "halo3d26" and len(set(self.faces)) > 1 and not (edges and self.corner is not None):
            raise PreadyError(
                f"faces = {shown(self.faces)} with pattern = 'halo3d26' say nothing of edges and corners",
                valid="edges and corner beside them",
            )

    def _nodes_consistent(self) -> None:
        if self.ranks_per_node is None and self.node_grid is None:
            return
        if self.path == "intra":
            raise PreadyError(
                "path = 'intra' beside ranks of several nodes",
                valid="no path: ranks of a node use the path within it, all others the adapter",
            )
        if self.node_grid is None:
            if self.grid and self.ranks_per_node and (ranks := math.prod(self.grid)) % self.ranks_per_node:
                raise PreadyError(
                    f"ranks_per_node = {self.ranks_per_node} does not divide {ranks} ranks",
                    valid=f"a divisor of {ranks}",
                )
            return
        if self.pattern in ("pt2pt", "neighbours") and self.grid is None:
            raise PreadyError(
                f"node_grid = {shown(self.node_grid)} with pattern = {shown(self.pattern)} and no grid",
                valid="ranks_per_node, or a grid",
            )
        ranks = math.prod(self.node_grid)
        if self.ranks_per_node not in (None, ranks):
            raise PreadyError(
                f"node_grid = {list(self.node_grid)} has {ranks} ranks",
                valid=f"{self.ranks_per_node}, the ranks_per_node",
            )
        for axis, (n, by) in enumerate(zip(self.grid or (), self.node_grid, strict=False)):
            if n % by:
                raise PreadyError(
                    f"node_grid[{axis}] = {by} does not divide {n} ranks along that axis", valid=f"a divisor of {n}"
                )

    def _exchanges_consistent(self) -> None:
        for name in (n for n in EACH_ITS_OWN if n in self.model_fields_set):
            default = self._largest if name == "buffer" else type(self).model_fields[name].default
            if getattr(self, name) != default:
                raise PreadyError(f"{name} beside exchanges", valid=f"{name} in each of [[exchanges]]")
        if self.today == "overlapped" and all(e.interior is None for e in self.exchanges or ()):
            raise PreadyError(
                "today = 'overlapped' without interior", valid='interior = "80 %" in one of [[exchanges]]'
            )
        names = [e.name for e in self.exchanges or () if e.name]
        for name in names:
            if names.count(name) > 1:
                raise PreadyError(f"exchanges: name = {shown(name)} twice", valid="a name of its own for each")

    @property
    def _largest(self) -> float:
        """The largest size of any neighbour and exchange."""
        if self.exchanges is not None:
            return max(part.buffer for part in self.parts)
        listed = [size for row in self._lists.sizes for size in row if size is not None]
        if not self.faces and not listed:
            raise PreadyError("buffer is missing", valid=type(self).model_fields["buffer"].description)
        return max(self.faces or listed)

    @property
    def _all_listed(self) -> bool:
        """Does `neighbour_list` give every neighbour a size, so that none gets `buffer`?"""
        return self._listed_sizes and all(size is not None for row in self._lists.sizes for size in row)

    @property
    def parts(self) -> tuple[Workload, ...]:
        """The exchanges of a step in order, each as a workload of one."""
        return (self,) if self.exchanges is None else tuple(map(self._part, range(len(self.exchanges))))

    def _part(self, number: int) -> Workload:
        assert self.exchanges is not None
        exchange = self.exchanges[number]
        fields = {n: getattr(self, n) for n in self.model_fields_set if n not in EACH_ITS_OWN}
        pattern = exchange.pattern or self.pattern
        for name in {"boundaries", "thread_grid"} - {*PATTERNS[pattern].fields}:
            fields.pop(name, None)
        if exchange.receiver not in (None, "consuming"):
            fields.pop("consume", None)
        fields |= {n: _in_si(v) for n, v in exchange if v is not None and n != "depends"}
        if exchange.interior is None and self.today == "overlapped":
            fields["today"] = "nonblocking"
        fields |= {"exchanges": None, "share": None, "name": exchange.name or f"exchange {number + 1}"}
        try:
            return type(self).model_validate(fields)
        except ValidationError as error:
            found = one_line(error, type(self))
            raise PreadyError(f"exchanges[{number}].{found.problem}", valid=found.valid) from None

    def changed(self, **fields: Any) -> Workload:
        """A copy with other values of some fields, as in a file: ``changed(buffer="512 KiB")``.

        Parameters
        ----------
        fields
            By name; dotted ones as ``changed(**{"arrivals.spread": 0.1})``. None leaves a field out. With another
            `buffer`, faces change in proportion.

        Raises
        ------
        PreadyError
            As `load`.
        """
        tables = [n.partition(".")[0] for n in fields]
        if self.exchanges is not None and (own := [n for n in tables if n in EACH_ITS_OWN]):
            raise PreadyError(f"{own[0]} beside exchanges", valid=f"{own[0]} in each of [[exchanges]]")
        data = dotted.written(self)
        if self.faces is not None or self.exchanges is not None or self._all_listed:
            data.pop("buffer", None)  # follows from them
        if self.faces is not None and "buffer" in fields and "faces" not in fields:
            size = units.parse(fields.pop("buffer"), units.Unit.SIZE, "buffer")
            fields["faces"] = [f"{face:.17g} B" for face in self.at_buffer(size).faces or ()]
        other = dotted.changed(data, fields)
        for table, names in _arrivals(other, fields):
            if WIDTHS & names:  # one takes the place of another
                for name in WIDTHS - names:
                    table.pop(name, None)
        return validated(Workload, {**other, "folder": self.folder}, "workload")

    def in_waves(self) -> Workload:
        """A GPU's kernel as one thread: each of its waves has an equal part of every buffer ready."""
        assert isinstance(self.compute, ComputeTime)
        update = {
            "threads": 1,
            "partitions_per_thread": self.compute.waves,
            "compute": ComputeTime.model_construct(time=self.compute.time),
            "arrivals": Uniform.model_construct(model="uniform", up_to=0.0, partitions="in turn"),
        }
        return self.model_copy(update=update)

    def at_buffer(self, size: float) -> Workload:
        """A copy with another buffer, which need not be whole; faces and listed sizes grow in proportion.

        Edges and corners that have sizes of their own keep them.
        """
        update: dict[str, Any] = {"buffer": float(size)}
        by = size / self.buffer
        if self.faces is not None:
            update["faces"] = tuple(by * face for face in self.faces)
        if self._listed_sizes:
            sizes = self._lists.filled(self.buffer)
            update["neighbour_list"] = tuple(
                tuple(SizedNeighbour.model_construct(to=to, size=by * b) for to, b in zip(ranks, row, strict=True))
                for ranks, row in zip(self._lists.ranks, sizes, strict=True)
            )
        return self.model_copy(update=update)


def _in_si(value: Any) -> Any:
    """Sizes that need not be parsed again."""
    if isinstance(value, tuple):
        return tuple(map(_in_si, value))
    return units.SI(value) if isinstance(value, float) else value


def _arrivals(data: dict[str, Any], fields: Mapping[str, object]) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """Tables of arrivals of written data, each with those of its fields that are given by their dotted names."""
    tables = {"arrivals.": data.get("arrivals")}
    each = data.get("exchanges")
    if isinstance(each, (list, tuple)):
        tables |= {f"exchanges[{i}].arrivals.": e.get("arrivals") for i, e in enumerate(each) if isinstance(e, dict)}
    for prefix, table in tables.items():
        if isinstance(table, dict):
            yield table, {n.removeprefix(prefix) for n in fields if n.startswith(prefix)}


def load(path: str | Path) -> Workload:
    """A workload from a TOML file.

    Raises
    ------
    PreadyError
        One line naming file, field, value and what is valid.
    """
    return _made(read_toml(Path(path)), str(Path(path)), str(Path(path).parent), printable(Path(path).stem))


def loads(data: bytes, source: str = "standard input", folder: str = ".") -> Workload:
    """A workload from a TOML file's content; files that it names are looked for in `folder`. Raises as `load`."""
    return _made(parsed_toml(data, source), source, folder, source)


def _made(data: dict[str, Any], source: str, folder: str, name: str) -> Workload:
    if "folder" in data:
        raise PreadyError("folder is not a field", valid=", ".join(field_names(Workload)), source=source)
    workload = validated(Workload, {**data, "folder": folder}, source)
    return workload if workload.name else workload.model_copy(update={"name": name})
