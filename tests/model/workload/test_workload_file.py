"""Workload files: sizes per neighbour, exchanges of a step, nodes."""

from pathlib import Path
from typing import Any

import pytest
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.model.engine.layout import layout, unable
from pready.model.toml.reading import validated
from pready.model.workload import supported_by, workload
from pready.model.workload.merging import merged
from pready.model.workload.neighbour_list import Neighbours, read_neighbours
from pready.model.workload.sizes import Sizes
from pready.model.workload.workload import Workload

BASES = table_of("model/workloads")["bases"]
HALO, STENCIL, LISTED, STEP = (BASES[name] for name in ("halo", "stencil", "listed", "step"))
FACES = 'faces = ["2 MiB", "512 KiB", "8 B"]\n'


def loaded(folder: Path, text: str) -> Workload:
    path = folder / "w.toml"
    path.write_text(text)
    return workload.load(path)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(PreadyError) as caught:
        loaded(folder, text)
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(str(folder / "w.toml") + ": ")
    return said.removeprefix(str(folder / "w.toml") + ": ")


def test_faces(tmp_path: Path) -> None:
    w = loaded(tmp_path, HALO + FACES)
    team = {"threads": 2000, "partitions_per_thread": 2000, "grid": [2, 1, 1]}
    most = w.changed(pattern="pt2pt", faces=None, buffer="4 MB", **team)
    assert most.n_partitions * most.peers == workload.LARGEST_EXCHANGE
    assert w.buffer == 2 * 2**20  # the largest
    assert w.sizes is not None
    assert [w.sizes.towards(s) for s in ((-1, 0, 0), (0, 1, 0), (0, 0, 1))] == [2 * 2**20, 2**19, 8]
    half = w.changed(buffer="1 MiB")
    assert half.faces == (2**20, 2**18, 4)
    assert w.changed(**{"faces[0]": "256 KiB"}).buffer == 2**19
    assert w.at_buffer(3.0 * 2**20).faces == (3 * 2**20, 0.75 * 2**20, 12)
    assert loaded(tmp_path, HALO + 'buffer = "1 MiB"\n').sizes is None


def test_edges_and_corners(tmp_path: Path) -> None:
    w = loaded(tmp_path, STENCIL + FACES + 'edges = ["1 KiB", "2 KiB", "4 KiB"]\ncorner = "8 B"\n')
    assert w.sizes is not None
    # The edge along x lies between a neighbour along y and one along z.
    assert [w.sizes.towards(s) for s in ((0, 1, -1), (-1, 0, 1), (1, 1, 0), (1, -1, 1))] == [1024, 2048, 4096, 8]
    w = loaded(tmp_path, STENCIL + 'buffer = "1 MiB"\nedge = "8 KiB"\n')
    assert w.sizes == Sizes((2**20,) * 3, (8192,) * 3, 2**20)


def test_sizes_in_a_list(tmp_path: Path) -> None:
    w = loaded(tmp_path, LISTED + 'buffer = "8 B"\nneighbour_list = [[{ to = 1, size = "64 KiB" }, 2], [0], []]\n')
    assert w.neighbour_lists == ((1, 2), (0,), ())
    assert w.neighbour_sizes == ((65536, 8), (8,), ())
    (tmp_path / "list.txt").write_text("1:65536, 2\n0:8\n\n")
    same = loaded(tmp_path, LISTED + 'buffer = "8 B"\nneighbour_list = "list.txt"\n')
    assert (same.neighbour_lists, same.neighbour_sizes) == (w.neighbour_lists, w.neighbour_sizes)
    (tmp_path / "most.txt").write_text("1:65536, 4294967295 # 7\n# none\n0:999999999999999\n\n")
    whole = Neighbours(((1, 2**32 - 1), (0,), ()), ((65536.0, None), (1e15 - 1,), ()))
    assert read_neighbours(str(tmp_path / "most.txt")) == whole
    w = loaded(tmp_path, LISTED + 'neighbour_list = "list.txt"\n')
    assert w.buffer == 65536
    assert w.at_buffer(131072.0).neighbour_sizes == ((131072, 131072), (16,), ())


def test_a_buffer_that_no_neighbour_gets_is_no_change(tmp_path: Path) -> None:
    """Else a sweep over `buffer` would show the same messages at each size."""
    w = loaded(tmp_path, LISTED + 'neighbour_list = [[{ to = 1, size = "64 KiB" }], [{ to = 0, size = "8 B" }]]\n')
    with pytest.raises(PreadyError, match="buffer = 131072 B beside a neighbour_list with a size for every neighbour"):
        w.changed(buffer="128 KiB")
    assert w.changed(threads=4).neighbour_sizes == w.neighbour_sizes
    other = w.changed(neighbour_list=[[{"to": 1, "size": "1 KiB"}], [{"to": 0, "size": "2 KiB"}]])
    assert (other.buffer, other.neighbour_sizes) == (2048, ((1024,), (2048,)))
    mixed = loaded(tmp_path, LISTED + 'buffer = "8 B"\nneighbour_list = [[{ to = 1, size = "64 KiB" }, 2], [0], []]\n')
    assert mixed.changed(buffer="16 B").neighbour_sizes == ((65536, 16), (16,), ())


def test_what_a_rank_sends(tmp_path: Path) -> None:
    w = loaded(tmp_path, HALO + FACES)
    assert w.sends == (2 * 2**20,) * 2 + (2**19,) * 2 + (8,) * 2
    flat = w.model_copy(update={"grid": (4, 4)})
    assert flat.sends == w.sends[:4]  # nobody is beyond an axis with a single rank
    stencil = loaded(tmp_path, STENCIL + FACES + 'edges = ["1 KiB", "2 KiB", "4 KiB"]\ncorner = "16 B"\n')
    assert [stencil.sends.count(b) for b in (2**21, 2**19, 8, 1024, 2048, 4096, 16)] == [2, 2, 2, 4, 4, 4, 8]
    assert stencil.sends[:6] == w.sends
    ring: list[list[dict[str, object]]] = [
        [{"to": (r + 1) % 3, "size": "8 B"}, {"to": (r + 2) % 3, "size": "1 KiB"}] for r in range(3)
    ]

    def listed(rows: list[list[dict[str, object]]]) -> Workload:
        return validated(Workload, {"threads": 1, "pattern": "neighbours", "neighbour_list": rows}, "w")

    assert listed(ring).sends == (8, 1024)
    uneven = listed([ring[0][:1], ring[1], []])
    assert (uneven.sends, uneven.peers) == ((8, 1024), 2)  # of the one that sends to most
    lists: list[list[list[int]]] = [[[1], []], [[1], [0], []], [[], [2], [0]]]
    base = {"threads": 3, "partitions_per_thread": 2, "buffer": "600 B", "pattern": "neighbours"}
    two_way = [Workload.model_validate({**base, "neighbour_list": some}).two_way for some in lists]
    assert two_way == [False, True, True]
    # Eq. 6 of gillis2023: 3 flops for half a byte sent, two flops a nanosecond; 200 B are a thread's.
    rate = {"arithmetic_intensity": 3, "communication_intensity": 0.5, "frequency": "1 GHz", "flops_per_cycle": 2}
    by_rate = Workload.model_validate({**base, "pattern": "pt2pt", "compute": rate})
    assert [by_rate.thread_time, by_rate.divisor] == pytest.approx([200 * 3e-9, 6])
    assert listed(ring).in_step
    assert not listed([ring[0][::-1], *ring[1:]]).in_step  # one sends the large one first
    assert not listed([ring[0], ring[1], ring[2][:1]]).in_step
    both_first = [ring[0], [{"to": 0, "size": "8 B"}, ring[1][1]], ring[2]]
    assert not listed(both_first).in_step  # rank 0 receives two small ones
    assert listed([[{"to": 1, "size": "8 B"}], []]).in_step  # as a list without sizes


def test_exchanges(tmp_path: Path) -> None:
    w = loaded(tmp_path, STEP)
    first, second = w.parts
    assert (first.name, second.name) == ("faces", "exchange 2")
    assert (first.pattern, second.pattern) == ("halo3d", "neighbours")
    assert (first.partitions_per_thread, second.partitions_per_thread) == (2, 1)
    assert (first.thread_time, second.thread_time) == (1e-3, 0.0)
    assert (first.boundaries, first.grid, second.threads) == ("open", (4, 4, 2), 8)
    assert second.neighbour_sizes == ((65536, 8192), (8192,))
    assert (w.share, first.share, first.exchanges) == (0.3, None, None)
    alone = loaded(tmp_path, HALO + FACES)
    assert alone.parts == (alone,)
    assert w.changed(iterations=7).parts[1].iterations == 7
    with pytest.raises(PreadyError, match=r"compute beside exchanges; valid: compute in each of \[\[exchanges\]\]"):
        w.changed(**{"compute.time": "1 ms"})


def test_nodes(tmp_path: Path) -> None:
    one = 'buffer = "1 MiB"\n'
    assert loaded(tmp_path, HALO + one + "ranks_per_node = 4\n").ranks_of_a_node == 4
    assert loaded(tmp_path, HALO + one + "node_grid = [2, 2]\n").ranks_of_a_node == 4
    assert loaded(tmp_path, HALO + one + "ranks_per_node = 1\n").ranks_of_a_node is None
    for more in ("grid = [4]\n", 'pattern = "halo3d"\n'):
        assert loaded(tmp_path, BASES["plain"] + more + "node_grid = [2]\n").ranks_of_a_node == 2


OF_A_STEP = [
    ("", STEP.replace('buffer = "8 KiB"', "thread = 3"), 'exchanges[1].thread is not a field (did you mean "'),
    ("", STEP.replace("share", 'buffer = "1 KiB"\nshare'), "buffer beside exchanges; valid: buffer in each of"),
    ("", STEP.replace("buffer", 'name = "faces"\nbuffer'), "exchanges: name = 'faces' twice; valid: a name of its own"),
]


@pytest.mark.parametrize(("base", "text", "expected"), [*table_of("model/refused")["further"], *OF_A_STEP])
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, base: str, text: str, expected: str) -> None:
    assert expected in refused(tmp_path, BASES[base] + text)


@pytest.mark.parametrize("line", ["1:", "1:0", "1:8:9", "1:-8", "1:8.5", ":8"])
def test_a_list_file_with_odd_sizes(tmp_path: Path, line: str) -> None:
    (tmp_path / "list.txt").write_text(f"1:8\n{line}\n")
    said = refused(tmp_path, LISTED + 'neighbour_list = "list.txt"\n')
    assert f"line 2: '{line}' is no neighbour; valid: ranks from 0 to 4294967295, with bytes as in 1:65536" in said


@pytest.mark.parametrize(("base", "text", "beyond"), table_of("model/workloads")["beyond"])
def test_an_engine_that_cannot_names_those_that_can(base: str, text: str, beyond: list[str], tmp_path: Path) -> None:
    w, by = loaded(tmp_path, BASES[base] + text), supported_by.ASKED_BY
    able = " or ".join(said for said, lacking in zip(by.values(), beyond, strict=True) if not lacking)
    for engine, need in zip(by, beyond, strict=True):
        assert (supported_by.beyond(w, engine) or "") == need
        if need:
            with pytest.raises(PreadyError) as caught:
                supported_by.check(w, engine)
            said = f"{need}: not simulated by {by[engine]}; valid: {able or 'a workload without it'}"
            assert str(caught.value) == said
        else:
            supported_by.check(w, engine)


def test_ranks_where_a_workload_says_none() -> None:
    whole = {"halo3d": (8, 8, 8), "halo3d26": (8, 8, 8), "sweep3d": (8, 8), "pt2pt": (2,), "bcast": (16,)}
    for pattern, grid in whole.items():
        w = Workload.model_validate({"threads": 2, "buffer": "4 KiB", "pattern": pattern})
        assert layout(w).grid == grid
    assert w.sends == (4096,) * 4  # of the root of a binomial tree of 16
    assert layout(w.changed(grid=(2**32 - 1,))).grid == (2**32 - 1,)
    with pytest.raises(PreadyError, match="grid"):
        w.changed(grid=(2**32,))
    counted = w.changed(pattern="neighbours", neighbours=3)
    with pytest.raises(PreadyError, match="without a neighbour list; valid: a neighbour_list"):
        layout(counted)
    lists = ([[n - 1], *([i] for i in range(n - 1))] for n in (1024, 1025))
    rings = (counted.changed(neighbours=None, neighbour_list=some) for some in lists)
    assert [*map(unable, rings)] == [None, "the neighbour list has more than 1024 ranks"]


def test_a_pipeline_is_not_predicted_and_a_broadcast_not_run() -> None:
    captured = {"step": "1 ms", "exchanges": "1 us", "blocks": 8}
    w = Workload.model_validate({"threads": 2, "buffer": "4 KiB", "today": "pipeline", "captured": captured})
    for of, blocks in ((w, " of 8 blocks"), (w.changed(captured=None), "")):
        said = f"this is a pipeline{blocks}: not predicted; valid: pattern = .sweep3d. with grid"
        with pytest.raises(PreadyError, match=said):
            supported_by.check(of, "engine")
    supported_by.refuse_broadcast(w, "a run")
    for second, said in (({"pattern": "bcast"}, "a run of pattern = 'bcast'; valid: pready predict"),
                         ({"pack": "1 GB/s"}, "a run with pack; valid: a workload without pack")):  # fmt: skip
        step = {"threads": 2, "exchanges": [{"buffer": "4 KiB"}, {"buffer": "4 KiB"} | second]}
        with pytest.raises(PreadyError, match=said):
            supported_by.refuse_broadcast(Workload.model_validate(step), "a run")


def test_receivers_compute_in_halos_and_sweeps_unless_it_is_said() -> None:
    computing = dict.fromkeys(("halo3d", "halo3d26", "sweep3d"), "computing")
    for pattern, default in {**computing, "pt2pt": "waiting"}.items():
        given = {"threads": 2, "buffer": "4 KiB", "pattern": pattern}
        made = Workload.model_validate(given)
        assert made.receiver == default
        assert "receiver" not in made.model_fields_set  # an open choice, which advice may name
        assert made.changed(threads=4).receiver == default
        assert Workload.model_validate({**given, "receiver": "waiting"}).receiver == "waiting"
    exchanges = [{"pattern": pattern, "buffer": "4 KiB"} for pattern in ("halo3d", "pt2pt")]
    step = Workload.model_validate({"threads": 2, "exchanges": exchanges})
    assert [part.receiver for part in step.parts] == ["computing", "waiting"]


@pytest.mark.parametrize(("top", "exchanges", "names", "left"), table_of("model/workloads")["merged"])
def test_exchanges_to_the_same_neighbours_can_be_one(top: Any, exchanges: Any, names: Any, left: Any) -> None:
    found = merged(Workload.model_validate({"threads": 2, "pattern": "pt2pt"} | top | {"exchanges": exchanges}))
    one, of = found or (None, [])
    assert of == names
    assert [[part.name, part.thread_time, *part.sends] for part in one.parts] == left if one else not left
