"""How many bytes go to each neighbour of a stencil, where directions differ: faces, edges and corners."""

from __future__ import annotations

from dataclasses import dataclass

Three = tuple[float, float, float]
Step = tuple[int, int, int]


@dataclass(frozen=True)
class Sizes:
    """Bytes of one message's buffer by direction."""

    faces: Three
    """Of a neighbour along x, y, z."""
    edges: Three
    """Of a neighbour beyond an edge that runs along x, y, z."""
    corner: float

    @classmethod
    def alike(cls, face: float, edge: float | None = None, corner: float | None = None) -> Sizes:
        """The same along every axis; an edge or corner without a size is as large as a face."""
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
