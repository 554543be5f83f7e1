"""Names of a step's exchanges: the routines of the application that they are for.

A message is sent by a binding of MPI, called by a helper of the application, called by the routine that wants an
exchange. The name is that of the innermost routine that no other exchange of the step goes through on another way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pready.calibrate.capture.files import Place
from pready.calibrate.capture.symbols import FORTRAN_MAIN, function_of, has_symbol, line_of

_MPI_FILE = re.compile(r"lib(p?mpi|mpich|fmpich|psm|open-(pal|rte)|mpifort|vt|scorep)\w*[-.\w]*\.so")
_MPI_FUNCTION = re.compile(r"_?p?mpi_\w+|(ompi|MPIR|MPID)_\w+", re.IGNORECASE)
_RUNTIME_FILE = re.compile(r"(lib(gomp|omp|iomp5|c|pthread|pready_capture)|ld-linux\S*)[-.]\S*so\S*")
_STARTS = ("_start", "__libc_start_main", "__libc_start_call_main")


@dataclass(frozen=True)
class Frame:
    """One call of a chain: the function that calls, whether it has a name, and where."""

    function: str
    object: str
    offset: int
    line: str
    known: bool

    @property
    def place(self) -> tuple[str, int]:
        return self.object, self.offset

    @property
    def where(self) -> str:
        """The function, or the file that it is in."""
        return self.function if self.known else Path(self.object).name


Chain = tuple[Frame, ...]
"""The innermost call first."""
Way = tuple[tuple[str, int], ...]
"""Objects and offsets of the calls that lead to one."""


def way_to(places: Sequence[Place | None], site: int) -> Way:
    """The calls that lead to a place, the same on all ranks and threads: those of its parallel region, where it is in
    one, which the runtime has called."""
    found: list[tuple[str, int]] = []
    for place in _callers(places, site):
        if found and _RUNTIME_FILE.fullmatch(Path(place.object).name):
            break
        found.append((place.object, place.offset))
    return tuple(found)


def _callers(places: Sequence[Place | None], site: int) -> Iterator[Place]:
    """A place, that which calls it, and so on; each once, whatever a file says."""
    seen: set[int] = set()
    while (place := places[site]) is not None and site not in seen:
        seen.add(site)
        yield place
        site = place.caller


def chain_of(places: Sequence[Place | None], site: int) -> Chain:
    """The calls of the application that lead to a place, without those of MPI and of runtimes."""
    found: list[Frame] = []
    for place in _callers(places, site):
        call = Frame(function_of(place), place.object, place.offset, line_of(place), has_symbol(place))
        file = Path(place.object).name
        outside = _MPI_FILE.fullmatch(file) or _RUNTIME_FILE.fullmatch(file) or _MPI_FUNCTION.fullmatch(call.function)
        if not outside:
            found.append(call)
    while len(found) > 1 and found[-1].function in _STARTS:
        found.pop()
    if len(found) > 1 and found[-2].function == FORTRAN_MAIN:
        found.pop()  # the main that gfortran adds
    return tuple(found)


def shared_by(chains: Sequence[Chain]) -> Chain:
    """The calls that all messages of an exchange have in common, from a routine that they all come through outward: of
    ``send_left`` and ``send_right``, both called by ``update_halo``, the call of ``update_halo`` is the innermost.

    Calls at several lines of one routine count as the first of them.
    """
    first, *others = chains or [()]
    common = len(first)
    for other in others:
        pairs = zip(reversed(first), reversed(other), strict=False)
        alike = next((i for i, (a, b) in enumerate(pairs) if a.where != b.where), min(len(first), len(other)))
        common = min(common, alike)
    return first[len(first) - common :] if common else first


def names_of(chains: Sequence[Chain]) -> list[str]:
    """A name for each exchange, in order: the routine, and its caller where several call it; empty without a chain.

    Several calls of one routine are told apart by their lines, or as "call site 2".
    """
    ways = [_way(chain, chains) for chain in chains]
    sites: defaultdict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    for inner, call in filter(None, ways):
        sites[inner, call.where].add(call.place)
    return ["" if way is None else _name(*way, sorted(sites[way[0], way[1].where])) for way in ways]


def _name(inner: str, call: Frame, among: list[tuple[str, int]]) -> str:
    """The name of a helper's call ("" if it is none), beside other calls of the same function."""
    if len(among) == 1:
        return f"{inner} from {call.where}" if inner else call.where
    if call.line:
        return f"{inner or call.where} ({call.line})"
    number = f"call site {among.index(call.place) + 1}"
    return f"{inner}, {number} in {call.where}" if inner else f"{number} of {call.where}"


def _way(chain: Chain, chains: Sequence[Chain]) -> tuple[str, Frame] | None:
    """The outermost helper that others use as well ("" if none), and the call of it."""
    if not chain:
        return None
    j = next((j for j in range(len(chain)) if not _shared(chain, j, chains)), len(chain) - 1)
    inner = chain[j - 1] if j else None
    return (inner.function if inner is not None and inner.known else ""), chain[j]


def _shared(chain: Chain, j: int, chains: Sequence[Chain]) -> bool:
    """Does another exchange go through the function of call `j`, called from elsewhere?"""
    outward = [c.place for c in chain[j + 1 :]]
    return any(
        call.function == chain[j].function and [c.place for c in other[k + 1 :]] != outward
        for other in chains
        for k, call in enumerate(other)
    )
