"""Capture files, one per process, as the preloaded library writes them; `preload/format.h` is their layout."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pready.model.common.errors import PreadyError, printable
from pready.model.toml.reading import read_bytes

PRELOAD = Path(__file__).resolve().parent / "preload"
MAGIC = b"pready capture 5"
SUFFIX = ".capture"
NO_ROOM = ".unwritten"
"""Behind that: an empty file of a process that had no room for its records."""
LARGEST_FILE = 16 << 30  # bytes of a process
TIMES = 5  # bytes of memory for each byte of a file: the file, its records, the same sorted, and what is asked of them

_HEADER = np.dtype(
    [
        ("magic", "S16"), ("header_bytes", "<u4"), ("site_bytes", "<u4"), ("sites", "<u4"), ("chunk_bytes", "<u4"),
        ("rank", "<i4"), ("ranks", "<i4"), ("pid", "<i4"), ("chunks", "<i4"),
        ("started_ns", "<i8"), ("wall_ns", "<i8"), ("mpi_started_ns", "<i8"), ("mpi_ended_ns", "<i8"),
        ("ended_ns", "<i8"), ("ended", "<u4"), ("openmp", "<u4"), ("threads", "<u4"),
        ("forks", "<u4"), ("dropped", "<u8"), ("dropped_requests", "<u8"),
    ]
)  # fmt: skip
_SITE = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("caller", "<u4"), ("symbol", "S176"), ("object", "S320")])
RECORD = np.dtype(
    [
        ("start", "<i8"), ("end", "<i8"), ("done", "<i8"), ("kind", "<u2"), ("site", "<u2"), ("who", "<i4"),
        ("what", "<u8"), ("buffer", "<u8"),
    ]
)  # fmt: skip
_TEXTS = {"host": (512, 256), "library": (768, 1024), "command": (2816, 4096), "cpus": (6912, 1024)}
_CHUNK_MAGIC, _CHUNK_HEAD = 0x6B6E6863, 16
_HEADER_BYTES, _CHUNK_BYTES, MOST_SITES = 8192, 65536, 1024

SHARE_TASKS = 0x8000
_FORMAT = (PRELOAD / "format.h").read_text(encoding="utf-8")
ANY, NO_PEER, UNKNOWN, NOT_ONE = map(int, re.findall(r"PEER_\w+ = (-\d)", _FORMAT))
"""Peers that are no rank."""
MPI_UNIT_NS = int(re.findall(r"mpi_ns / (\d+);", _FORMAT)[0])
ENDINGS = ("unknown", "exit", "abort")
RUNTIMES = ("none", "libgomp", "OMPT")


@cache
def kinds() -> dict[str, int]:
    """Numbers of the kinds of records by name, from the library's own source."""
    text = (PRELOAD / "kinds.def").read_text(encoding="utf-8")
    return {name: int(number) for number, name in re.findall(r'^KIND\(\w+, (\d+), "(\w+)"\)', text, re.MULTILINE)}


def numbers(*names: str) -> list[int]:
    return [kinds()[name] for name in names]


ONE_SIDED = ("put", "rput", "accumulate", "get", "rget")
SENDS = ("send", "isend", "sendrecv", "start_send", "pready", *ONE_SIDED, "neighbour_send")
"""Kinds whose bytes are those of a message that this rank begins; a get is one that it fetches."""
RECEIVES = ("recv", "irecv", "sendrecv_receive", "start_recv")
COLLECTIVES = ("barrier", "collective", "collective_started")
OPENMP = ("region", "share", "nested")


@dataclass(frozen=True)
class Place:
    """A place in the code: offset in an object (of a return address, or a function's start), and the dynamic symbol
    before it, if any; or the name, where another tool's trace has nothing else. And the number of the place that calls
    the function it is in; 0: not recorded."""

    offset: int
    is_return: bool
    symbol: str
    object: str
    name: str = ""
    caller: int = 0


@dataclass(frozen=True, kw_only=True)
class Process:
    """The records of one process."""

    path: Path
    rank: int  # in MPI_COMM_WORLD; -1 without MPI
    ranks: int  # its size, likewise
    host: str
    command: str
    library: str
    runtime: str
    ended: str
    threads: int
    forks: int = 0
    dropped: int = 0
    dropped_requests: int = 0
    wall_s: float = 0.0
    cpus: frozenset[int] = frozenset()  # that its threads may run on; empty if not known
    duration_s: float
    mpi_s: tuple[float | None, float | None]  # return of MPI_Init and begin of MPI_Finalize; None if missing
    places: tuple[Place | None, ...]
    records: NDArray[Any] = field(repr=False)  # by start, in ns since the file was opened; `done` of no request: -1
    thread: NDArray[np.int32] = field(repr=False)  # that wrote each

    def of(self, *names: str) -> NDArray[np.bool_]:
        """Mask of the records of these kinds."""
        return np.isin(self.records["kind"], numbers(*names))

    def __post_init__(self) -> None:
        begin, end = self.within_mpi_s
        if not 0 <= begin <= end:
            problem = f"runs from MPI_Init's return at {begin:.9f} s to {end:.9f} s"
            raise PreadyError(problem, valid="a file as the library wrote it", source=str(self.path))

    @property
    def within_mpi_s(self) -> tuple[float, float]:
        """The run: from MPI_Init's return to MPI_Finalize's begin, or to the process's end; else all of the process.

        Every time and share of a run is of this window.
        """
        begin, end = self.mpi_s
        return begin or 0.0, self.duration_s if end is None else end

    @property
    def sent(self) -> NDArray[np.bool_]:
        """Mask of the records of messages to or from a rank; to MPI_PROC_NULL there is none."""
        mask: NDArray[np.bool_] = self.of(*SENDS) & (self.records["who"] != NO_PEER)
        return mask

    @property
    def most_threads(self) -> int:
        """Threads of its largest team; 1 without regions."""
        return int((self.records["what"][self.of("region")] & 0xFFFF).max(initial=1))


@dataclass(frozen=True)
class Run:
    """All processes of a captured run: ranks in order, then processes without a rank."""

    folder: Path
    processes: tuple[Process, ...]

    @property
    def ranks(self) -> tuple[Process, ...]:
        """The processes that are ranks of MPI_COMM_WORLD."""
        return tuple(p for p in self.processes if p.rank >= 0)

    def all_ranks(self) -> tuple[Process, ...]:
        """Its ranks, if all are there; a PreadyError where some are missing."""
        ranks = self.ranks
        if not ranks or len(ranks) != ranks[0].ranks:
            some = f"{len(ranks)} of {ranks[0].ranks} ranks" if ranks else "no process that called MPI_Init"
            raise PreadyError(f"holds {some}", valid="records of every rank", source=str(self.folder))
        return ranks

    @property
    def shares_cores(self) -> bool:
        """Do threads of ranks have fewer cores than there are threads, as the CPUs say that each may run on?"""
        for host in {p.host for p in self.ranks}:
            here = [p for p in self.ranks if p.host == host and p.cpus]
            teams = [p.most_threads for p in here]
            cpus = frozenset[int]().union(*(p.cpus for p in here))
            if sum(teams) > len(cpus) or any(n > len(p.cpus) for n, p in zip(teams, here, strict=True)):
                return bool(here)
        return False


def read_run(folder: Path) -> Run:
    """Read the files of a folder; a PreadyError if there are none, an invalid one, or those of two runs."""
    source = str(folder)
    files = sorted(folder.glob(f"*{SUFFIX}"))
    if not files:
        problem = f"holds no file *{SUFFIX}" if folder.is_dir() else "is not a folder"
        raise PreadyError(problem, valid="the folder that 'pready capture -o' wrote", source=source)
    processes = [parse_process(read_bytes(path, LARGEST_FILE, TIMES), path) for path in files]
    ranked = sorted((p for p in processes if p.rank >= 0), key=lambda p: p.rank)
    for first, second in pairwise(ranked):
        if first.rank == second.rank or first.ranks != second.ranks:
            raise PreadyError(
                f"holds two runs: {first.path.name} and {second.path.name} are rank {first.rank} of {first.ranks} and "
                f"rank {second.rank} of {second.ranks}",
                valid="one run per folder",
                source=source,
            )
    return Run(folder, (*ranked, *(p for p in processes if p.rank < 0)))


def parse_process(data: bytes, path: Path) -> Process:
    """The process that a file's bytes are of; a PreadyError if it is none of ours, or damaged."""
    source = str(path)
    first_chunk = _HEADER_BYTES + MOST_SITES * _SITE.itemsize
    if len(data) < first_chunk or not data.startswith(MAGIC):
        raise PreadyError("is no capture file", valid=f"one that begins with '{MAGIC.decode()}'", source=source)
    head = np.frombuffer(data, _HEADER, 1)[0]
    layout = tuple(int(head[n]) for n in ("header_bytes", "site_bytes", "sites", "chunk_bytes"))
    expected = (_HEADER_BYTES, _SITE.itemsize, MOST_SITES, _CHUNK_BYTES)
    if layout != expected:
        raise PreadyError(f"has the layout {layout}", valid=f"{expected}", source=source)
    rank, ranks = int(head["rank"]), int(head["ranks"])
    if not (rank == ranks == -1 or 0 <= rank < ranks):
        raise PreadyError(f"rank = {rank} of {ranks}", valid="a rank below the number of ranks", source=source)
    for name, names in (("ended", ENDINGS), ("openmp", RUNTIMES)):
        if head[name] >= len(names):
            raise PreadyError(f"{name} = {head[name]}", valid=f"below {len(names)}", source=source)
    records, thread = _records(data, first_chunk, source)
    peers = records["who"][np.isin(records["kind"], numbers(*SENDS, *RECEIVES, "pstart_send", "pstart_recv"))]
    if 0 < ranks <= (peer := int(peers.max(initial=-1))):
        raise PreadyError(f"holds a message with rank {peer}", valid=f"0 to {ranks - 1}", source=source)
    started = int(head["started_ns"])
    last = int(records["end"].max()) if len(records) else 0
    duration = int(head["ended_ns"]) - started if head["ended_ns"] else last
    if not 0 <= duration < 1 << 62:
        raise PreadyError(f"ends {duration} ns after it begins", valid="at least 0", source=source)
    texts = {name: _text(data[at : at + length]) for name, (at, length) in _TEXTS.items()}
    cpus = texts.pop("cpus")
    return Process(
        path=path,
        rank=rank,
        ranks=ranks,
        **texts,
        cpus=_cpus(cpus, source),
        runtime=RUNTIMES[head["openmp"]],
        ended=ENDINGS[head["ended"]],
        threads=int(head["threads"]),
        forks=int(head["forks"]),
        dropped=int(head["dropped"]),
        dropped_requests=int(head["dropped_requests"]),
        wall_s=int(head["wall_ns"]) * 1e-9,
        duration_s=duration * 1e-9,
        mpi_s=(_since(head["mpi_started_ns"], started), _since(head["mpi_ended_ns"], started)),
        places=_places(data),
        records=records,
        thread=thread,
    )


def _since(at: Any, started: int) -> float | None:
    return (int(at) - started) * 1e-9 if at else None


def _text(data: bytes) -> str:
    text = data.split(b"\0", 1)[0].decode("utf-8", "replace").strip()
    return "\n".join(printable(line.expandtabs(1)) for line in text.splitlines())


def _cpus(text: str, source: str) -> frozenset[int]:
    """The numbers of a list of cores such as "0-3,8-8"."""
    spans = re.fullmatch(r"(\d{1,4}-\d{1,4}(,\d{1,4}-\d{1,4})*)?", text)
    if spans is None:
        raise PreadyError(f"cpus = {text[:40]!r}", valid="spans, such as '0-3,8-8'", source=source)
    return frozenset(
        n for span in filter(None, text.split(",")) for n in range(int(span.split("-")[0]), int(span.split("-")[1]) + 1)
    )


def _places(data: bytes) -> tuple[Place | None, ...]:
    def place(r: Any) -> Place:
        caller = int(r["caller"]) if r["caller"] < MOST_SITES else 0
        symbol, object_ = (_text(bytes(r[name])) for name in ("symbol", "object"))
        return Place(int(r["offset"]), int(r["kind"]) == 2, symbol, object_, caller=caller)

    return tuple(place(r) if r["kind"] else None for r in np.frombuffer(data, _SITE, MOST_SITES, _HEADER_BYTES))


def _records(data: bytes, first_chunk: int, source: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """All records, sorted by start; a chunk ends at its first record without a kind."""
    found, owners = [], []
    for at in range(first_chunk, len(data) - _CHUNK_BYTES + 1, _CHUNK_BYTES):
        magic, thread = np.frombuffer(data, "<u4", 2, at)
        if magic == 0:  # allocated, but the process ended before it was used
            continue
        if magic != _CHUNK_MAGIC:
            raise PreadyError(f"has no chunk at byte {at}", valid="a file as the library wrote it", source=source)
        rows = np.frombuffer(data, RECORD, (_CHUNK_BYTES - _CHUNK_HEAD) // RECORD.itemsize, at + _CHUNK_HEAD)
        empty = np.flatnonzero(rows["kind"] == 0)
        rows = rows[: empty[0]] if len(empty) else rows
        found.append(rows)
        owners.append(np.full(len(rows), thread, dtype=np.int32))
    if not found:
        return np.empty(0, RECORD), np.empty(0, np.int32)
    records, thread = np.concatenate(found), np.concatenate(owners)
    bad = (records["start"] < 0) | (records["end"] < records["start"]) | (records["end"] >= 1 << 62)
    bad |= (records["done"] >= 0) & (records["done"] < records["start"]) | (records["done"] >= 1 << 62)
    bad |= ~np.isin(records["kind"], list(kinds().values())) | (records["site"] >= MOST_SITES)
    if bad.any():
        row = records[np.flatnonzero(bad)[0]]
        said = f"holds a record of kind {row['kind']} from {row['start']} to {row['end']} ns, place {row['site']}"
        raise PreadyError(said, valid="a file as the library wrote it", source=source)
    order = np.lexsort((records["end"], records["start"]))
    return records[order], thread[order]
