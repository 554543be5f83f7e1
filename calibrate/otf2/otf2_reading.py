"""The events of an OTF2 trace as a captured run: regions of OpenMP threads, messages with peers and bytes.

Reads the outermost parallel regions of each thread with their barriers (OPARI2's or OMPT's, region roles "parallel",
"barrier" and "implicit barrier" of the paradigm OpenMP), calls of the paradigm MPI with their records, and the ranks of
MPI_COMM_WORLD (the group of communication locations). The format: https://doi.org/10.5281/zenodo.1240852
and the OTF2 manual, "OTF2 records".

``python -m`` of this file writes the pickled run, or the error, to standard output. Of a damaged trace OTF2's library
may take all memory, damage the heap or crash: it runs in a process of its own.
"""

from __future__ import annotations

import pickle
import resource
import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.capture.files import MOST_SITES, NOT_ONE, RECORD, UNKNOWN, Place, Process, Run, kinds
from pready.model.common.errors import PreadyError, printable

CALLS: Mapping[str, str] = {
    f"MPI_{call}": kind
    for kind, calls in {
        "init": ("Init", "Init_thread", "Session_init"),
        "finalize": ("Finalize", "Session_finalize"),
        "wait": ("Wait", "Waitall", "Waitany", "Waitsome"),
        "test": ("Test", "Testall", "Testany", "Testsome"),
        "probe": ("Probe", "Iprobe"),
        "fence": ("Win_fence",),
        "post": ("Win_post",),
        "epoch_start": ("Win_start",),
        "complete": ("Win_complete",),
        "epoch_wait": ("Win_wait",),
        "lock": ("Win_lock", "Win_lock_all"),
        "unlock": ("Win_unlock", "Win_unlock_all"),
        "flush": ("Win_flush", "Win_flush_all"),
    }.items()
    for call in calls
}
"""Kinds of calls that are recorded even without messages."""
_BOTH_WAYS = ("MPI_Sendrecv", "MPI_Sendrecv_replace")
_STARTS = ("MPI_Start", "MPI_Startall")
MESSAGES: Mapping[str, tuple[str, Sequence[str], str]] = {
    "MpiSend": ("send", _BOTH_WAYS, "sendrecv"),
    "MpiIsend": ("isend", _STARTS, "start_send"),
    "MpiRecv": ("recv", _BOTH_WAYS, "sendrecv_receive"),
    "MpiIrecvRequest": ("irecv", _STARTS, "start_recv"),
    "RmaPut": ("put", ("MPI_Rput",), "rput"),
    "RmaGet": ("get", ("MPI_Rget",), "rget"),
}
"""By event with a message: its kind, and the calls in which it is of another kind."""
COUNTED = ("wait", "test")
"""Kinds that record the number of completed requests."""
MIDDLE = 16
VALID = "a complete OTF2 trace"
LEAST_MEMORY, TIMES_ITS_SIZE, OF_A_FILE = 2 << 30, 1000, 16 << 20
"""Bytes of memory at most: so many, a multiple of the trace's size, and OTF2's buffers of each of its files."""

Row = tuple[int, int, int, str, int, int, int]
"""Begin, end, completion in ns, kind, place, who, what."""


@dataclass
class _Interval:
    """An outermost parallel region on one thread."""

    begin: int
    region: str
    end: int = -1
    shares: list[tuple[int, int, str]] = field(default_factory=list)
    """Begin, end, the barrier that ends it ("": the region's end)."""


@dataclass
class _Note:
    """A record, in ns."""

    begin: int
    end: int
    kind: str
    place: str
    who: int
    what: int
    done: int

    def put(self, places: list[str]) -> Row:
        """The row of a file."""
        return self.begin, self.end, self.done, self.kind, _place(places, self.place), self.who, self.what


@dataclass
class _Call:
    """An MPI call that has not returned."""

    name: str
    begin: int
    place: str
    noted: list[tuple[str, int, int, int]] = field(default_factory=list)  # kind, who, what, request; -1: none
    completed: list[_Note] = field(default_factory=list)


@dataclass
class _Location:
    """One location: its stack of regions and its records."""

    stack: list[Any] = field(default_factory=list)
    parallel: int = 0
    mpi: int = 0
    intervals: list[_Interval] = field(default_factory=list)
    """The last one is the current parallel region, where `parallel` says that there is one."""
    call: _Call | None = None
    fork: int = -1
    share: int = 0
    entered: bool = True  # a region was entered since the share began
    nested_since: int = 0
    rows: list[_Note] = field(default_factory=list)
    open: dict[int, _Note] = field(default_factory=dict)  # by request: what is not complete
    at_once: set[int] = field(default_factory=set)
    """Requests that were complete before the call that made them returned."""

    def add(self, begin: int, end: int, kind: str, place: str, who: int, what: int, request: int = -1) -> None:
        """Record something."""
        note = _Note(begin, end, kind, place, who, what, end if request < 0 else -1)
        self.rows.append(note)
        if request in self.at_once:
            self.at_once.remove(request)
            note.done = end
        elif request >= 0:
            self.open[request] = note


class _Reader:
    """Reads the events of all locations in time order."""

    def __init__(self, otf2: Any, trace: Any) -> None:
        self.otf2, self.trace = otf2, trace
        clock = trace.definitions.clock_properties
        if not clock.timer_resolution:
            raise ValueError("its clock has 0 ticks per second")
        self.offset, self.tick = clock.global_offset, 1e9 / clock.timer_resolution
        self.threads: dict[Any, _Location] = {}
        self.last = 0
        self.flushes = 0
        self.ranks = _world(otf2, trace)
        self.note = {
            "Enter": self.enter,
            "Leave": self.leave,
            "ThreadFork": self.fork,
            "OmpFork": self.fork,
            "BufferFlush": self.flush,
            **dict.fromkeys(MESSAGES, self.message),
            "MpiIrecv": self.completed,
            "MpiIsendComplete": self.completed,
            "MpiCollectiveEnd": self.collective,
        }

    def read(self) -> None:
        """Read all events."""
        for location, event in self.trace.events:
            note = self.note.get(type(event).__name__)
            if note is None:
                continue
            at = round((event.time - self.offset) * self.tick)
            self.last = max(self.last, at)
            thread = self.threads.setdefault(location, _Location())
            note(thread, at, event)

    def enter(self, thread: _Location, at: int, event: Any) -> None:
        region, paradigm, role = event.region, self.otf2.Paradigm, self.otf2.RegionRole
        if region is None:
            raise ValueError("it enters a region that it does not define")
        around = printable(str(thread.stack[-1].name if thread.stack else region.name))
        thread.stack.append(region)
        thread.entered = True
        if region.paradigm == paradigm.MPI:
            thread.mpi += 1
            if thread.mpi == 1:
                thread.call = _Call(region.name, at, around)
        elif region.paradigm == paradigm.OPENMP and region.region_role == role.PARALLEL:
            thread.parallel += 1
            if thread.parallel == 1:
                begin = thread.fork if thread.fork >= 0 else at
                thread.intervals.append(_Interval(begin, _named(region)))
                self.begin_share(thread, at)
            elif thread.parallel == 2:
                thread.nested_since = at
            thread.fork = -1
        elif self.barrier(region) and thread.parallel == 1:
            self.end_share(thread, at, _named(region))

    def leave(self, thread: _Location, at: int, event: Any) -> None:
        region, paradigm, role = event.region, self.otf2.Paradigm, self.otf2.RegionRole
        if not thread.stack or thread.stack[-1] is not region:
            return  # entered before the measurement was on
        thread.stack.pop()
        if region.paradigm == paradigm.MPI:
            thread.mpi -= 1
            if thread.mpi == 0 and thread.call is not None:
                self.returned(thread, at, thread.call)
                thread.call = None
        elif region.paradigm == paradigm.OPENMP and region.region_role == role.PARALLEL:
            thread.parallel -= 1
            if thread.parallel == 0:
                made = thread.intervals[-1]
                made.end = at
                if thread.entered or not made.shares:
                    self.end_share(thread, at, "")
                else:  # the barrier at the region's end
                    made.shares[-1] = (*made.shares[-1][:2], "")
            elif thread.parallel == 1:
                thread.add(thread.nested_since, at, "nested", "", len(thread.intervals) - 1, 0)
        elif self.barrier(region) and thread.parallel == 1:
            self.begin_share(thread, at)

    def barrier(self, region: Any) -> bool:
        """Whether a region is a barrier of a team."""
        role = self.otf2.RegionRole
        return region.paradigm == self.otf2.Paradigm.OPENMP and region.region_role in (
            role.BARRIER,
            role.IMPLICIT_BARRIER,
        )

    def begin_share(self, thread: _Location, at: int) -> None:
        thread.share, thread.entered = at, False

    def end_share(self, thread: _Location, at: int, barrier: str) -> None:
        thread.intervals[-1].shares.append((thread.share, at, barrier))

    def returned(self, thread: _Location, at: int, call: _Call) -> None:
        """Record a call; its time goes to its first message."""
        kind = CALLS.get(call.name)
        if kind is not None:
            what = len(call.completed) if kind in COUNTED else 0
            thread.add(call.begin, at, kind, call.place, NOT_ONE, what)
        begin = call.begin if kind is None else at
        for noted, who, what, request in call.noted:
            thread.add(begin, at, noted, call.place, who, what, request)
            begin = at
        if kind is None and call.completed and not call.noted:
            thread.add(call.begin, at, "wait", call.place, NOT_ONE, len(call.completed))
        for note in call.completed:
            note.done = at

    def record(self, thread: _Location, at: int, kind: str, who: int, what: int, request: int = -1) -> None:
        """Record a message of the current call, or by itself if calls were filtered out."""
        if thread.call is None:
            place = printable(str(thread.stack[-1].name)) if thread.stack else ""
            thread.add(at, at, kind, place, who, what, request)
        else:
            thread.call.noted.append((kind, who, what, request))

    def fork(self, thread: _Location, at: int, event: Any) -> None:
        if not thread.parallel:
            thread.fork = at

    def flush(self, thread: _Location, at: int, event: Any) -> None:
        self.flushes += 1

    def message(self, thread: _Location, at: int, event: Any) -> None:
        """A message, to whom or from whom and how large; these are known of a receive when it is completed."""
        name = type(event).__name__
        kind, calls, otherwise = MESSAGES[name]
        if thread.call is not None and thread.call.name in calls:
            kind = otherwise
        if name == "MpiIrecvRequest":
            self.record(thread, at, kind, UNKNOWN, 0, event.request_id)
        elif name.startswith("Rma"):
            self.record(thread, at, kind, self.peer(event.win.comm, event.remote), event.bytes)
        else:
            rank = event.sender if name == "MpiRecv" else event.receiver
            request = event.request_id if name == "MpiIsend" else -1
            self.record(thread, at, kind, self.peer(event.communicator, rank), event.msg_length, request)

    def completed(self, thread: _Location, at: int, event: Any) -> None:
        note = thread.open.pop(event.request_id, None)
        if note is None:
            thread.at_once.add(event.request_id)
            note = _Note(at, at, "wait", "", NOT_ONE, 1, at)
        if type(event).__name__ == "MpiIrecv":
            note.who, note.what = self.peer(event.communicator, event.sender), event.msg_length
        note.done = at
        if thread.call is None:
            thread.add(at, at, "wait", "", NOT_ONE, 1)
        else:
            thread.call.completed.append(note)

    def collective(self, thread: _Location, at: int, event: Any) -> None:
        barrier = event.collective_op == self.otf2.CollectiveOp.BARRIER
        self.record(thread, at, "barrier" if barrier else "collective", NOT_ONE, 0 if barrier else event.size_sent)

    def peer(self, communicator: Any, rank: int) -> int:
        """The MPI_COMM_WORLD rank of a communicator's rank."""
        group = getattr(communicator, "group", None)  # an intercommunicator has two
        if group is None or rank >= len(group.members):
            return UNKNOWN
        return self.ranks.get(group.members[rank].group, UNKNOWN)


def _named(region: Any) -> str:
    """A region's name, with file and line if known and not part of the name."""
    name, file = printable(str(region.name)), region.source_file
    line = f"{Path(str(file)).name}:{region.begin_line_number}" if file and region.begin_line_number else ""
    return f"{name} ({printable(line)})" if line and line not in name else name


def _world(otf2: Any, trace: Any) -> dict[Any, int]:
    """Ranks of MPI_COMM_WORLD by process."""
    for group in trace.definitions.groups:
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI:
            return {location.group: rank for rank, location in enumerate(group.members)}
    return {}


def run_here(path: Path) -> tuple[Run, list[str]]:
    """As `run_of_trace.read_otf2`, in this process, which OTF2's library may end."""
    otf2, of_c = import_module("otf2"), import_module("_otf2")
    _bound_memory(path)
    try:
        with otf2.reader.open(str(path)) as trace:
            reader = _Reader(otf2, trace)
            reader.read()
            processes = _processes(reader, path)
    except (otf2.error.Error, of_c.Error, LookupError, ValueError, OverflowError, MemoryError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise PreadyError(f"cannot be read: {why}", valid=VALID, source=str(path)) from None
    said = []
    if reader.flushes:
        said.append(f"{reader.flushes} buffer flushes during the run delayed it: raise SCOREP_TOTAL_MEMORY")
    return Run(path, processes), said


def _bound_memory(anchor: Path) -> None:
    """No more than the trace can need: OTF2's library takes as much as a damaged file says, 20 GiB and on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    files = *anchor.parent.glob(f"{anchor.stem}.*"), *anchor.with_suffix("").glob("*")
    sizes = [file.stat().st_size for file in files]
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    most = taken + LEAST_MEMORY + TIMES_ITS_SIZE * sum(sizes) + OF_A_FILE * len(sizes)
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _processes(reader: _Reader, path: Path) -> tuple[Process, ...]:
    by_process: dict[Any, list[tuple[Any, _Location]]] = {}
    for location, thread in sorted(reader.threads.items(), key=lambda item: int(item[0]._ref)):
        by_process.setdefault(location.group, []).append((location, thread))
    made = [_process(reader, path, of, threads) for of, threads in by_process.items()]
    return tuple(sorted(made, key=lambda p: (p.rank < 0, p.rank)))


def _process(reader: _Reader, path: Path, of: Any, locations: list[tuple[Any, _Location]]) -> Process:
    places: list[str] = [""]
    # The thread that calls MPI, else the first: it begins the regions.
    threads = [thread for _, thread in locations]
    master = next((i for i, t in enumerate(threads) if any(r.kind == "init" for r in t.rows)), 0)
    threads = [threads[master], *threads[:master], *threads[master + 1 :]]
    rows: list[tuple[int, Row]] = []
    for number, thread in enumerate(threads):
        rows += [(number, note.put(places)) for note in thread.rows]
    for number, team in enumerate(_teams(threads)):
        rows += _team_rows(number, team, places)
    rows.sort(key=lambda item: item[1][:2])
    records = np.array([(b, e, d, kinds()[k], p, who, what, 0) for _, (b, e, d, k, p, who, what) in rows], RECORD)
    begun = [end for _, (_, end, _, kind, *_) in rows if kind == "init"]
    ended = [begin for _, (begin, _, _, kind, *_) in rows if kind == "finalize"]
    node = of.system_tree_parent
    return Process(
        path=path,
        rank=reader.ranks.get(of, -1),
        ranks=len(reader.ranks) if of in reader.ranks else -1,
        host=printable(str(node.name)) if node is not None else "",
        command=str(path),
        library="OTF2's reader of the trace",
        runtime="Score-P",
        ended="exit",
        threads=len(threads),
        duration_s=reader.last * 1e-9,
        mpi_s=(begun[0] * 1e-9 if begun else None, (ended[-1] if ended else reader.last) * 1e-9),
        places=(None, *(Place(0, False, "", name, name) for name in places[1:])),
        records=records,
        thread=np.array([number for number, _ in rows], np.int32),
    )


def _place(places: list[str], name: str) -> int:
    """The number of a place in the code; 0 if there is none, or too many."""
    if not name:
        return 0
    if name not in places:
        if len(places) >= MOST_SITES:
            return 0
        places.append(name)
    return places.index(name)


def _teams(threads: list[_Location]) -> list[list[tuple[int, _Interval]]]:
    """For each region of the first thread, the other threads in it with their intervals."""
    begins = [[i.begin for i in t.intervals] for t in threads]
    out = []
    for of_master in threads[0].intervals:
        if of_master.end < 0:
            continue
        team = [(0, of_master)]
        for number, thread in enumerate(threads[1:], 1):
            # A worker's region ends with the master's, in the same barrier; it may begin earlier or later.
            at = bisect_left(begins[number], of_master.end) - 1
            found = thread.intervals[at] if at >= 0 else None
            if found is None or found.end <= of_master.begin or found.region != of_master.region:
                continue
            team.append((number, found))
        out.append(team)
    return out


def _team_rows(number: int, team: list[tuple[int, _Interval]], places: list[str]) -> list[tuple[int, Row]]:
    """Records of a region and its shares."""
    of = team[0][1]
    site = _place(places, of.region)
    rows: list[tuple[int, Row]] = [(0, (of.begin, of.end, of.end, "region", site, number, len(team) | 1 << MIDDLE))]
    for in_team, (thread, interval) in enumerate(team):
        for phase, (begin, end, barrier) in enumerate(interval.shares):
            what = in_team | (phase & 0x7FFF) << MIDDLE
            rows.append((thread, (begin, end, end, "share", _place(places, barrier) or site, number, what)))
    return rows


def _main() -> None:
    answer: tuple[Run, list[str]] | PreadyError
    try:
        answer = run_here(Path(sys.argv[1]))
    except PreadyError as error:
        answer = error
    sys.stdout.buffer.write(pickle.dumps(answer))


if __name__ == "__main__":
    _main()
