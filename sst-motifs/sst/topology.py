"""Networks by name and size, as merlin topologies.

``single`` one router, no contention but for the ports; ``torus`` a 3-D torus, one rank per router;
``fattree`` two levels, tapered by a factor (``fattree:2`` halves the links up) and, if said, with so many
hosts on an edge switch (``fattree:2:16``); ``dragonfly`` balanced groups (hosts, routers and global links
1 : 2 : 1), minimal routing. A torus may be given its shape: ``torus:4x4x4``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pready.model.common.errors import PreadyError, shown


@dataclass(frozen=True)
class Topology:
    """A merlin topology: its class, its settings in merlin's words, and how many hosts it has room for."""

    name: str
    merlin: str
    settings: dict[str, object]
    hosts: int

    @property
    def title(self) -> str:
        """Name and size, as a table says it."""
        shape = self.settings.get("shape")
        return f"{self.name} of {self.hosts} hosts" if shape is None else f"{self.name} {shape} of {self.hosts} hosts"


def topology(name: str, ranks: int) -> Topology:
    """The topology of that name with room for `ranks` hosts.

    Raises
    ------
    PreadyError
        An unknown name, or a size that does not fit.
    """
    if ranks < 2:
        raise PreadyError(f"ranks = {ranks}", valid="at least 2")
    kind, _, size = name.partition(":")
    make, arguments = KINDS.get(kind, (None, ""))
    if make is None or (size and not arguments):
        raise PreadyError(f"topology = {shown(name)} is unknown", valid=VALID)
    return make(size, ranks)


def near_cube(n: int) -> tuple[int, int, int]:
    """Three factors of n with the least sum, the largest first."""
    best = (n, 1, 1)
    for z in range(1, math.isqrt(n) + 1):
        if n % z or z**3 > n:
            continue
        for y in range(z, math.isqrt(n // z) + 1):
            if n // z % y == 0 and n // z // y + y + z < sum(best):
                best = (n // z // y, y, z)
    return best


def _torus(size: str, ranks: int) -> Topology:
    if size and not re.fullmatch(r"\d{1,4}(x\d{1,4}){0,4}", size):
        raise PreadyError(f"topology: torus shape {shown(size)}", valid="extents such as 4x4x4")
    extents = [int(n) for n in size.split("x")] if size else list(near_cube(ranks))
    hosts = math.prod(extents)
    if hosts < ranks:
        raise PreadyError(f"topology: a torus of {size} has {hosts} hosts", valid=f"at least {ranks}")
    # merlin puts two cables in a direction of two routers, and cannot cable one router to itself.
    extents = [n for n in extents if n > 1] or [1]
    settings = {"shape": "x".join(map(str, extents)), "width": "x".join("1" for _ in extents), "local_ports": 1}
    return Topology("torus", "topoTorus", settings, hosts)


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
        "algorithm": ["minimal"],
    }
    return Topology("dragonfly", "topoDragonFly", settings, p * routers * groups)


KINDS: Mapping[str, tuple[Callable[[str, int], Topology], str]] = {
    "single": (_single, ""),
    "torus": (_torus, "[:XxYxZ]"),
    "fattree": (_fattree, "[:TAPER[:HOSTS]]"),
    "dragonfly": (_dragonfly, ""),
}
"""By name: made of the text after a colon and the ranks, and what that text may be, as a help text writes it."""
VALID = ", ".join(f"{name}{arguments}" for name, (_, arguments) in KINDS.items())
"""Valid names, for messages."""
