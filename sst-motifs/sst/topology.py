"""Networks by name, size and routing, as merlin topologies: ``NAME[:SIZE][:ROUTING]``.

``single`` one router, no contention but for the ports; ``torus`` a 3-D torus, one host per router, or of a shape
(``torus:4x4x4``); ``mesh`` the same without the cables that close its rings; ``fattree`` two levels, tapered by a
factor (``fattree:2`` halves the links up) and, if said, with so many hosts on an edge switch (``fattree:2:16``);
``dragonfly`` balanced groups (hosts, routers and global links 1 : 2 : 1); ``hyperx`` as many hosts on a router as
routers in a row, or of a shape (``hyperx:8x8``).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from pready.model.common.errors import PreadyError, shown


@dataclass(frozen=True)
class Topology:
    """A merlin topology: its class, its settings in merlin's words, and how many hosts it has room for."""

    name: str
    merlin: str
    settings: dict[str, object]
    hosts: int
    routing: str = ""  # as it was asked for; empty: merlin's default, or the only one there is

    @property
    def in_order(self) -> bool:
        """Does every packet of two hosts take one way?"""
        return self.routing in ("", "minimal", "deterministic")

    @property
    def title(self) -> str:
        """Name, size and routing, as a table says it."""
        shape = f" {self.settings['shape']}" if "shape" in self.settings else ""
        routing = f", {self.routing} routing" if self.routing else ""
        return f"{self.name}{shape} of {self.hosts} hosts{routing}"


@dataclass(frozen=True)
class Kind:
    """A topology by name: made of the text of its size and the hosts that it needs room for."""

    make: Callable[[str, int], Topology]
    sizes: str = ""  # what its size may be, as a help text writes it
    routings: Mapping[str, object] = field(default_factory=dict)  # merlin's word for each routing
    setting: str = "algorithm"  # merlin's parameter for it

    @property
    def usage(self) -> str:
        """What may follow the name, as a help text writes it."""
        return self.sizes + ("[:ROUTING]" if self.routings else "")


def topology(name: str, hosts: int) -> Topology:
    """The topology of that name with room for so many hosts. Raises PreadyError: an unknown name or routing, or a size
    that does not fit."""
    if hosts < 1:
        raise PreadyError(f"hosts = {hosts}", valid="at least 1")
    word, *rest = name.split(":")
    kind = KINDS.get(word)
    if kind is None or (rest and not kind.usage):
        raise PreadyError(f"topology = {shown(name)} is unknown", valid=VALID)
    routing = rest.pop() if rest and re.fullmatch(r"[a-z][a-z-]*", rest[-1]) else ""
    if routing and routing not in kind.routings:
        raise PreadyError(
            f"topology = {shown(name)}: routing {shown(routing)}",
            valid=", ".join(kind.routings) or f"{word} has one only",
        )
    if rest and not kind.sizes:
        raise PreadyError(f"topology = {shown(name)}: size {shown(':'.join(rest))}", valid=f"{word}{kind.usage}")
    made = kind.make(":".join(rest), hosts)
    if not routing:
        return made
    return replace(made, settings=made.settings | {kind.setting: kind.routings[routing]}, routing=routing)


def near_cube(n: int, axes: int = 3) -> tuple[int, int, int]:
    """Three factors of n with the least sum, the largest first; on two axes the third is 1."""
    best = (n, 1, 1)
    for z in range(1, math.isqrt(n) + 1 if axes == 3 else 2):
        if n % z or z**3 > n:
            continue
        for y in range(z, math.isqrt(n // z) + 1):
            if n // z % y == 0 and n // z // y + y + z < sum(best):
                best = (n // z // y, y, z)
    return best


def _extents(name: str, size: str) -> list[int]:
    if not re.fullmatch(r"\d{1,4}(x\d{1,4}){0,4}", size) or 0 in (extents := [int(n) for n in size.split("x")]):
        raise PreadyError(f"topology: {name} shape {shown(size)}", valid="extents such as 4x4x4")
    return extents


def _cables(extents: list[int]) -> dict[str, object]:
    """A shape with one cable between two routers; merlin cannot cable a router to itself, so no extents of 1."""
    extents = [n for n in extents if n > 1] or [1]
    return {"shape": "x".join(map(str, extents)), "width": "x".join("1" for _ in extents)}


def _torus(size: str, ranks: int, name: str = "torus", merlin: str = "topoTorus") -> Topology:
    extents = _extents(name, size) if size else list(near_cube(ranks))
    hosts = math.prod(extents)
    if hosts < ranks:
        raise PreadyError(f"topology: a {name} of {size} has {hosts} hosts", valid=f"at least {ranks}")
    return Topology(name, merlin, {**_cables(extents), "local_ports": 1}, hosts)


def _hyperx(size: str, ranks: int) -> Topology:
    side = next(n for n in itertools.count(2) if n**3 >= ranks)
    extents = _extents("hyperx", size) if size else [side, side]
    each = max(1, -(-ranks // math.prod(extents)))
    return Topology("hyperx", "topoHyperX", {**_cables(extents), "local_ports": each}, each * math.prod(extents))


def _fattree(size: str, ranks: int) -> Topology:
    found = re.fullmatch(r"(?P<taper>\d{1,4}(\.\d+)?)?(:(?P<down>\d{1,5}))?", size)
    taper = float((found and found["taper"]) or 1)
    # Hosts per edge switch: unless given, about as many as there are edge switches.
    down = int((found and found["down"]) or max(2, math.isqrt(ranks - 1) + 1))
    if found is None or not 1 <= taper <= 1024 or down < 1:
        raise PreadyError(
            f"topology: fattree {shown(size)}",
            valid="TAPER, 1 (full bisection) to 1024, or TAPER:HOSTS with the hosts on an edge switch",
        )
    edges, up = -(-ranks // down), max(1, int(down / taper))
    return Topology("fattree", "topoFatTree", {"shape": f"{down},{up}:{edges}"}, down * edges)


def _single(_: str, ranks: int) -> Topology:
    return Topology("single", "topoSingle", {"num_ports": ranks}, ranks)


def _dragonfly(_: str, ranks: int) -> Topology:
    p = 1
    while p * 2 * p * (2 * p * p + 1) < ranks:
        p += 1
    routers, groups = 2 * p, max(2, -(-ranks // (p * 2 * p)))
    settings: dict[str, object] = {
        "hosts_per_router": p,
        "routers_per_group": routers,
        "intergroup_links": max(1, routers * p // (groups - 1)),
        "num_groups": groups,
        "algorithm": "minimal",
    }
    return Topology("dragonfly", "topoDragonFly", settings, p * routers * groups)


KINDS: Mapping[str, Kind] = {
    "single": Kind(_single),
    "torus": Kind(_torus, "[:XxYxZ]"),
    "mesh": Kind(partial(_torus, name="mesh", merlin="topoMesh"), "[:XxYxZ]"),
    "fattree": Kind(
        _fattree, "[:TAPER[:HOSTS]]", {"deterministic": "deterministic", "adaptive": "adaptive"}, "routing_alg"
    ),
    "dragonfly": Kind(
        _dragonfly, "", {"minimal": "minimal", "valiant": "valiant", "adaptive": "adaptive-local", "ugal": "ugal"}
    ),
    "hyperx": Kind(_hyperx, "[:XxY]", {"minimal": "DOR", "valiant": "valiant", "adaptive": "DOAL"}),
}
VALID = ", ".join(f"{name}{kind.usage}" for name, kind in KINDS.items())
"""Valid names, for messages."""
ROUTINGS = "; ".join(f"{name}: {', '.join(kind.routings)}" for name, kind in KINDS.items() if kind.routings)
"""ROUTING of each."""
