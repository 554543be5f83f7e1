"""The table of edges of every pattern."""

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from given import Patch
from hypothesis import assume, given
from hypothesis import strategies as st

from pready.model.workload import edges as module
from pready.model.workload.edges import PATTERNS, Edge, Grid, Name, Ranks, edges
from pready.model.workload.sizes import Sizes


def test_edges_of_a_halo_by_phase_sender_and_tag() -> None:
    """Ranks 0 1 2 / 3 4 5, which wrap around along x alone: x has tags 0 and 1, y 2 and 3, z none."""
    tables = PATTERNS["halo3d"].edges(Ranks((3, 2, 1), (True, False, False)))
    rows = edges(tables, 1, 0.0, Sizes((8.0, 4.0, 2.0), (1.0,) * 3, 1.0)).tolist()
    found = [Edge._make(row) for row in rows]
    wanted = [(0, 2, 8, 0), (0, 1, 8, 1), (0, 3, 4, 3), (1, 0, 8, 0), (1, 2, 8, 1), (1, 4, 4, 3)]
    assert found[:6] == [Edge(0, sender, to, size, tag) for sender, to, size, tag in wanted]
    assert len(found) == 3 * 6


@given(st.sampled_from(sorted(PATTERNS)), st.tuples(*[st.integers(1, 4)] * 3), st.booleans(), st.data())
def test_both_ends_of_an_edge_name_each_other(name: Name, grid: Grid, wraps: bool, data: st.DataObject) -> None:
    grid = (*grid[:2], 1) if name == "sweep3d" else grid
    ranks = int(np.prod(grid))
    assume(ranks > 1 and (name != "pt2pt" or ranks % 2 == 0))
    lists = None
    if name == "neighbours":  # the same one several times, too
        each = st.lists(st.integers(1, ranks - 1), max_size=5)
        rows = data.draw(st.lists(each, min_size=ranks, max_size=ranks).filter(any))
        lists = tuple(tuple((rank + by) % ranks for by in row) for rank, row in enumerate(rows))
    for table in PATTERNS[name].edges(Ranks(grid, (wraps,) * 3, lists, data.draw(st.integers(2, 5)))):
        to, (from_, tags) = table.receivers, table.from_
        sent = {(int(s), int(to[s, t]), int(t)) for s, t in np.argwhere(to >= 0)}
        tag = from_ * 0 + np.arange(from_.shape[1]) if tags is None else tags
        received = [(int(from_[r, j]), int(r), int(tag[r, j])) for r, j in np.argwhere(from_ >= 0)]
        assert Counter(received) == dict.fromkeys(sent, 1)
        if table.order is not None:  # whoever is sent to comes later
            place = np.argsort(table.order)
            assert all(place[s] < place[r] for s, r, _ in sent)


@pytest.mark.parametrize(
    ("there", "instead"),
    [('"bcast"]', '"bcast", "half"]'), ("class Broad", "class Half(Pairs):\n    name = 'half'\n\n\nclass Broad")],
)
def test_a_pattern_in_one_place_only_is_told_the_other(there: str, instead: str, monkeypatch: Patch) -> None:
    source, half = Path(module.__file__).read_text(encoding="utf-8"), ModuleType("half")
    assert there in source
    half.__file__ = module.__file__
    monkeypatch.setitem(sys.modules, "half", half)
    with pytest.raises(TypeError, match="pattern half: needs a class of that name and an entry of `Name`, both in"):
        exec(source.replace(there, instead), vars(half))
