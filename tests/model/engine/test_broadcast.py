"""Broadcasts: the engine equals the plain recurrence, and both their limits."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from made_once import any_of, between, generated
from on_ranks import simulate
from plain_ranks import ends_of, run_as_plain
from tables import table_of
from test_plain import cases
from workloads import workload_of

from pready.cli import main
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BULK, BY_KEY, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.simulate import CAUSES
from pready.model.machine import machine as machines
from pready.model.workload.edges import PATTERNS, Ranks, children
from pready.model.workload.workload import Workload

RELAYED = [i for i in BY_KEY.values() if not (i.one_sided or i.one_by_one)]


@st.composite
def broadcasts(draw: st.DrawFn) -> dict[str, Any]:
    case = draw(cases(("pt2pt",)))
    ranks, workload = draw(between(2, 20)), case["workload"]
    interface = draw(any_of(*RELAYED))
    own = {"pattern": "bcast", "receiver": "waiting", "radix": draw(any_of(2, 3, 4, ranks))}
    n = workload.n_partitions
    divisors = [t for t in range(1, n + 1) if n % t == 0]
    vcis = 1 if interface.completes == "master" else draw(any_of(1, 2, 3))
    return {
        **{name: case[name] for name in ("machine", "seed")},
        "workload": workload.model_copy(update=own),
        "approach": Approach(interface, draw(any_of(*divisors)) if interface.splits else 1, vcis),
        "grid": (ranks,),
        "radix": own["radix"],
    }


@pytest.mark.slow
@generated(80)
@given(broadcasts(), st.integers(1, 3))
def test_engine_equals_the_plain_recurrence(case: dict[str, Any], iterations: int) -> None:
    out, expected = run_as_plain(case, iterations, causes=())
    ends = ends_of(expected)
    close(out.last_end_s, ends.max(axis=1), rtol=1e-12, atol=0)
    begun = np.concatenate([[0.0], ends.max(axis=1)[:-1]])
    close(out.mean_s, ends.max(axis=1) - begun, rtol=1e-12, atol=1e-14 * ends.max())
    close(sum(out.causes_s.values()), out.mean_s, rtol=1e-12, atol=1e-15 * ends.max())
    for k, row in enumerate(expected):
        last = [e for e in row[1:] if e.end >= ends[k].max() * (1 - 1e-13)]
        if row[0].end >= ends[k].max() * (1 - 1e-12) or len(last) > 1:
            continue  # the root itself, or which of several is last, is a matter of rounding
        for cause in CAUSES:
            close(out.causes_s[cause][k], last[0].causes[cause], rtol=0, atol=1e-12 * ends.max())


@pytest.mark.parametrize(("ranks", "radix", "below"), table_of("model/known")["trees"])
def test_trees(ranks: int, radix: int, below: dict[str, list[int]]) -> None:
    """The binomial tree of MPICH's MPIR_Bcast_intra_binomial: rank 0 of 8 sends to 4, 2, 1."""
    for rank, those in below.items():
        assert children(int(rank), ranks, radix) == those


@given(st.integers(2, 300), st.integers(2, 300))
def test_every_rank_has_one_parent_that_comes_before_it(ranks: int, radix: int) -> None:
    (table,) = PATTERNS["bcast"].edges(Ranks((ranks, 1, 1), radix=radix))
    tree = [[to for to in row if to >= 0] for row in table.receivers.tolist()]
    assert sorted(r for row in tree for r in row) == list(range(1, ranks))
    assert all(r < below for r, row in enumerate(tree) for below in row)
    depth = [0] * ranks
    for r, row in enumerate(tree):
        for below in row:
            depth[below] = depth[r] + 1
    assert depth == sorted(depth)
    assert max(depth) <= math.ceil(math.log(ranks, radix) - 1e-9)


BYTE = 1e-9
SIZE = 8000


def workload(**own: Any) -> Workload:
    return workload_of(**{"threads": 8, "buffer": f"{SIZE} B", "pattern": "bcast", **own})


def last(machine: machines.Machine, ranks: int, radix: int, approach: Approach, **own: Any) -> float:
    """Seconds from the root's last ready partition until the last rank has everything."""
    run_ = simulate(machine, workload(**own), approach, grid=(ranks,), radix=radix, iterations=1)
    return float(run_.communication_s[0])


MANY_8, PART_8, PART_WHOLE_8 = (Approach(BY_KEY[key], 8) for key in ("many", "part", "part-whole"))


@pytest.mark.parametrize(
    ("approach", "ranks", "radix", "eighths"),
    [
        # A binomial tree in bulk: the k children of a rank share its cable, and all have everything after k messages.
        # 8 ranks: 3 + 2 + 1; of 13, rank 7 has it after 4 + 2 + 1, and 11 after 4 + 3 + 1.
        *((BULK, ranks, 2, 8 * n) for ranks, n in ((2, 1), (4, 3), (8, 6), (16, 10), (13, 8))),
        # Linear is all messages of the root; 8 messages to each, all ready at once, are as many bytes.
        *((way, ranks, ranks, 8 * (ranks - 1)) for ranks in (2, 5, 16) for way in (BULK, MANY_8)),
        # Two levels are a pipeline. 4 ranks, binomial: 0 sends to 2 and 1, which share its cable, 2 to 3. With m
        # messages to each, the last pair is there at 2 m units of S G / m, and at 3 one unit after that.
        (MANY_8, 4, 2, 17),
        (PART_8, 4, 2, 17),
        # 2 ranks of 3: 0 sends to 2 and 1, nothing to forward.
        (MANY_8, 3, 2, 16),
        # MPI_Parrived of the whole request only: rank 2 of 4 has all parts at 16 units, and 3 at 8 more.
        (PART_WHOLE_8, 4, 2, 24),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_bytes_alone(approach: Approach, ranks: int, radix: int, eighths: int) -> None:
    assert last(ideal(G=BYTE), ranks, radix, approach) == pytest.approx(eighths * SIZE * BYTE / 8)


def test_a_late_partition_alone_goes_down_the_tree() -> None:
    """One of 8 threads late by longer than all others take: what is left is its eighth, to 4, 3, 2 and 1 children."""
    late = {"arrivals": {"model": "laggard", "delay": "10 ms", "late": "thread"}}
    unit = SIZE * BYTE / 8
    assert last(ideal(G=BYTE), 16, 2, MANY_8, **late) == pytest.approx(10 * unit)
    assert last(ideal(G=BYTE), 16, 2, BULK, **late) == pytest.approx(10 * SIZE * BYTE)


def test_overheads_add_up_along_the_deepest_path() -> None:
    """o_s and o_r alone, a binomial tree of 8 in bulk: rank 4 has it at o_s + o_r, 6 at 2 of both, 7 at 3."""
    assert last(ideal(G=1e-300, o_s=1e-6, o_r=1e-6), 8, 2, BULK) == pytest.approx(3 * 2e-6)


def test_a_root_whose_threads_meet_last_is_where_the_time_goes() -> None:
    """The last of 8 threads is 3 us late and sends its byte: all have it before the threads have met, 5 us on."""
    late = {"compute": {"time": "1 ms"}, "arrivals": {"model": "laggard", "delay": "3 us", "late": "thread"}}
    machine = ideal(G=BYTE, barrier=[0.0, 5e-6, 5e-6])
    out = simulate(machine, workload(buffer="8 B", **late), PART_8, grid=(4,), radix=2, iterations=1)
    causes = {**dict.fromkeys(CAUSES, 0.0), "compute": 1.003e-3, "issue": 5e-6}
    assert {name: time for name, (time,) in out.causes_s.items()} == pytest.approx(causes, rel=1e-9)
    whole, first = 1.008e-3, 1.003e-3 + 2e-9
    times = (out.mean_s, out.longest_s, out.last_end_s, out.shortest_s, out.first_end_s)
    found = [float(of[0]) for of in (*times, *(out.means[name] for name in ("spread", "to_join", "early")))]
    assert found == pytest.approx([whole, whole, whole, first, first, 3e-6, 5e-6, 1.0], rel=1e-7)


def test_what_a_tree_cannot_be() -> None:
    machine = machines.load("niagara")
    for key, vcis, said in (
        ("rma-single-active", 1, "pattern = 'bcast' with RMA single - active; valid: sends that do not block"),
        ("blocking", 1, "pattern = 'bcast' with Pt2Pt blocking; valid: sends that do not block"),
        ("part", 2, "pattern = 'bcast' with Pt2Pt part over 2 VCIs"),
    ):
        with pytest.raises(PreadyError, match=said.replace("(", r"\(")):
            simulate(machine, workload(), Approach(BY_KEY[key], 1, vcis), grid=(4,), iterations=1)


def test_who_cannot_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything else refuses a broadcast in a line."""
    path = tmp_path / "b.toml"
    path.write_text('threads = 4\nbuffer = "1 MiB"\npattern = "bcast"\ncompute = { time = "1 ms" }\n')
    for words, said in (
        (["sst", "run"], "a broadcast: not simulated by pready sst run"),
        (["prove", "--approach", "many", "--source", "c", str(tmp_path / "s")], "pready prove of pattern = 'bcast'"),
    ):
        assert main([*words, str(path)]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
    assert main(["explain", str(path), "--machine", "niagara"]) == 0
    assert "late neighbour" in capsys.readouterr().out


def test_a_prediction_counts_from_the_root_to_the_last_rank() -> None:
    """What predict shows of a machine at its values is what one simulation gives, and no approach of it is one that a
    tree cannot be."""
    machine, w = machines.load("niagara"), workload(buffer="1 MiB", grid=[16], radix=16)
    late = w.changed(**{"arrivals.model": "laggard", "arrivals.delay": "100 us", "arrivals.late": "thread"})
    prediction = predict(machine, late, library="openmpi-persist", draws=0)
    bulk = simulate(machine, late, BULK, grid=(16,), radix=16, iterations=1)
    assert prediction.bulk.time_s == pytest.approx(bulk.communication_s[0], rel=1e-9)
    assert all(not p.approach.interface.one_sided for p in prediction.approaches)
    assert prediction.ranks == (16, 1, 1)
