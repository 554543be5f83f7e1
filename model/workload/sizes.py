"""How many bytes go to each neighbour of a stencil, where directions differ: faces, edges and corners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

Three = tuple[float, float, float]
Step = tuple[int, int, int]

FACES: tuple[Step, ...] = ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))
ALL_STEPS: tuple[Step, ...] = tuple(s for s in product((-1, 0, 1), (-1, 0, 1), (-1, 0, 1)) if any(s))
STENCIL_27: tuple[Step, ...] = tuple(
    sorted(ALL_STEPS, key=lambda s: (sum(map(abs, s)), FACES.index(s) if s in FACES else 0))
)
"""Faces first, then edges, then corners: the order in which a thread sends to its neighbours."""


def directions(stencil: Sequence[Step], size: Three) -> tuple[Step, ...]:
    """Neighbours of a stencil on so many ranks along x, y, z: an axis with a single rank has no neighbours along it."""
    return tuple(s for s in stencil if all(n > 1 or not by for n, by in zip(size, s, strict=True)))


@dataclass(frozen=True)
class Sizes:
    """Bytes of one message's buffer by direction."""

    faces: Three
    """Bytes for a neighbour along x, y, z."""
    edges: Three
    """Bytes for a neighbour beyond an edge that runs along x, y, z."""
    corner: float

    @classmethod
    def alike(cls, face: float, edge: float | None = None, corner: float | None = None) -> Sizes:
        """One size along every axis; an edge or corner without a size is as large as a face."""
        edge = face if edge is None else edge
        return cls((face,) * 3, (edge,) * 3, face if corner is None else corner)

    def towards(self, step: Step) -> float:
        """Bytes for the neighbour at `step`, -1, 0 or 1 along each axis, not all 0."""
        across = [axis for axis in range(3) if step[axis]]
        if len(across) == 1:
            return self.faces[across[0]]
        if len(across) == 2:
            return self.edges[next(axis for axis in range(3) if not step[axis])]
        return self.corner
