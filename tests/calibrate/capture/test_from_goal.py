"""GOAL traces: the grammar, what is an exchange, and the round trip of our own export to the message."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.calibrate.capture.from_goal import step_of_goal
from pready.calibrate.importers.goal import Goal, read_goal
from pready.cli import main
from pready.model.common.errors import PreadyError
from pready.model.workload import workload

HALO = """
format = 2
name = "halo"
threads = 4
pattern = "halo3d"
grid = [3, 3, 3]
faces = ["64 KiB", "32 KiB", "16 KiB"]
iterations = 4
compute = {time = "1 ms"}
arrivals = {model = "none"}
"""
STEP = """
format = 2
name = "step"
threads = 4
grid = [3, 3, 3]
iterations = 4
[[exchanges]]
name = "u"
pattern = "halo3d"
buffer = "64 KiB"
compute = {time = "2 ms"}
[[exchanges]]
name = "v"
pattern = "halo3d"
buffer = "8 KiB"
compute = {time = "1 ms"}
"""


def read(tmp_path: Path, text: str) -> Goal:
    path = tmp_path / "t.goal"
    path.write_text(text, encoding="utf-8")
    return read_goal(path)


def exported(path: Path, approach: str) -> Goal:
    out = path.with_suffix(f".{approach.replace(':', '')}.goal")
    words = ["simulate", str(path), "--machine", "meluxina", "--approach", approach, "--iterations", "4"]
    assert main([*words, "--export", "goal", str(out)]) == 0
    return read_goal(out)


@pytest.mark.parametrize(
    ("text", "approach"), [(HALO, "single"), (STEP, "part:4")], ids=["one exchange", "a step of two"]
)
def test_our_export_comes_back_to_the_message(tmp_path: Path, text: str, approach: str) -> None:
    path, back = tmp_path / "halo.toml", tmp_path / "back.toml"
    path.write_text(text, encoding="utf-8")
    there = exported(path, approach)
    goal = path.with_suffix(f".{approach.replace(':', '')}.goal")
    assert main(["workload", "--from-goal", str(goal), "--threads", "4", "--spread", "0 %", "-o", str(back)]) == 0
    was, now = workload.load(path), workload.load(back)
    assert (now.grid, now.threads, now.iterations) == (was.grid, 4, 4)
    for one, other in zip(was.parts, now.parts, strict=True):
        assert other.pattern == "halo3d"
        assert other.in_step
        # What precedes the first message: computing, and MPI_Pready or a barrier, below 1 % of it.
        assert other.thread_time == pytest.approx(one.thread_time, rel=0.01)
    assert exported(back, approach).messages == there.messages


TREE = """num_ranks 4
rank 0 {
l1: send 8b to 1 tag 0
l2: send 8b to 2 tag 0
}
rank 1 { // the left half
l1: recv 8b from 0 tag 0 cpu 0 nic 0
l2: send 8b to 3 tag 0
/* and
   waits */ l2 requires l1
}
rank 2 {
l1: recv 8b from 0 tag 0
}
rank 3 {
l1: recv 8b from 1 tag 0
}
"""


def test_a_tree_is_an_exchange_for_each_round(tmp_path: Path) -> None:
    goal = read(tmp_path, TREE)
    assert goal.messages == [(0, 1, 8, 0), (0, 2, 8, 0), (1, 3, 8, 0)]
    step = step_of_goal(goal, "t", threads=1, steps=None, spread="4 %")
    assert [e.pattern.lists for e in step.exchanges] == [(((1, 8), (2, 8)), (), (), ()), ((), ((3, 8),), (), ())]
    assert any("each round is an exchange of the step" in note for note in step.notes)
    out = tmp_path / "tree.toml"
    words = ["workload", "--from-goal", str(tmp_path / "t.goal"), "--threads", "1", "--spread", "4 %"]
    assert main([*words, "-o", str(out)]) == 0
    assert [part.thread_time for part in workload.load(out).parts] == [0, 0]


def ring(ranks: int, rounds: int, extra: str = "") -> str:
    """Each rank sends on what came last round: an all-gather."""
    some = []
    for r in range(ranks):
        lines = [extra] if extra and not r else []
        for k in range(rounds):
            lines += [f"s{k}: send 64b to {(r + 1) % ranks} tag {k}", f"r{k}: recv 64b from {(r - 1) % ranks} tag {k}"]
            lines += [f"s{k} requires r{k - 1}"] if k else []
        some.append(f"rank {r} {{\n" + "\n".join(lines) + "\n}\n")
    return f"num_ranks {ranks}\n" + "".join(some)


def test_a_ring_is_a_round_for_each_message_and_ends_as_its_critical_path(tmp_path: Path) -> None:
    rounds = 5
    step = step_of_goal(read(tmp_path, ring(4, rounds)), "t", threads=1, steps=1, spread="4 %")
    assert [e.name for e in step.exchanges] == [f"round {k + 1}" for k in range(rounds)]
    assert len({e.pattern for e in step.exchanges}) == 1
    # With computing between, nothing waits: one exchange, repeated.
    assert len(step_of_goal(read(tmp_path, pairs(5, "2000")), "t", threads=1, steps=None, spread="0 %").exchanges) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [(ring(3, 65), "more rounds than a step has exchanges"), (ring(3, 4, "x: recv 8b from 1 tag 99"), "never sent")],
)
def test_what_has_no_rounds_is_sent_at_once_and_says_so(tmp_path: Path, text: str, why: str) -> None:
    step = step_of_goal(read(tmp_path, text), "t", threads=1, steps=1, spread="4 %")
    assert len(step.exchanges) == 1, why
    assert any("the workload sends them at once" in note for note in step.notes)


def test_messages_keep_the_order_in_which_they_are_sent(tmp_path: Path) -> None:
    # All to all as LogGOPSim's Schedgen writes it: rank r sends to r + 1, r + 2, ... By number, all would
    # send to rank 0 first: of 16 ranks and 8 KiB, LogGOPSim ends after 820 us, what was sorted so after 1460 us.
    order = [[(r + k) % 5 for k in (1, 2, 3, 4)] for r in range(5)]
    ranks = [
        f"rank {r} {{\n" + "".join(f"send 8b to {to} tag 0\n" for to in mine) + "}\n" for r, mine in enumerate(order)
    ]
    goal = read(tmp_path, "num_ranks 5\n" + "".join(ranks))
    step = step_of_goal(goal, "t", threads=1, steps=1, spread="4 %")
    assert [[to for to, _ in mine] for mine in step.exchanges[0].pattern.lists] == order


def pairs(steps: int, calc: str) -> str:
    """Two ranks that compute and exchange `steps` times, without waiting between the send and the computing."""
    ranks = []
    for rank in (0, 1):
        lines = []
        for k in range(steps):
            lines += [f"c{k}: calc {calc}", f"s{k}: send 64b to {1 - rank} tag {k}"]
            lines += [f"r{k}: recv 64b from {1 - rank} tag {k}", f"d{k}: calc 500 cpu 1", f"s{k} requires c{k}"]
            lines += [f"r{k} irequires s{k}", f"d{k} requires s{k}"]
            lines += [f"c{k} requires r{k - 1}"] if k else []
        ranks.append(f"rank {rank} {{\n" + "\n".join(lines) + "\n}\n")
    return "num_ranks 2\n" + "".join(ranks)


def test_computing_that_waits_for_no_receive_ends_no_exchange(tmp_path: Path) -> None:
    step = step_of_goal(read(tmp_path, pairs(5, "2000")), "t", threads=2, steps=None, spread="4 %")
    assert (step.steps, len(step.exchanges), step.ranks) == (5, 1, 2)
    assert step.exchanges[0].pattern.name == "pt2pt"
    assert step.exchanges[0].compute_s == pytest.approx(2e-6)  # of CPU 0, the busier one
    assert not any("same exchange" in note for note in step.notes)
    tenths = "// times in 1/10 ns; LogGOPSim -L 1\n" + pairs(5, "2000")
    assert step_of_goal(
        read(tmp_path, tenths), "t", threads=2, steps=None, spread="4 %"
    ).exchanges[0].compute_s == pytest.approx(2e-7)  # fmt: skip


def test_arrivals_are_asked_for(tmp_path: Path) -> None:
    goal = read(tmp_path, pairs(5, "2000"))
    for threads, spread, said in ((None, "4 %", "--threads N"), (2, None, "--spread '4 %'")):
        with pytest.raises(PreadyError, match=re.escape(said)):
            step_of_goal(goal, "t", threads=threads, steps=None, spread=spread)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no num_ranks"),
        ("num_ranks 0\n", "line 1: has 0 ranks"),
        ("num_ranks 99999999999999999999999\n", "is too large; valid: 0 to 1048576"),
        ("ranks 2\n", "line 1: 'ranks 2' is no GOAL"),
        ("num_ranks 1\nl1: calc 3\n", "line 2: 'l1: calc 3' is outside a rank"),
        ("num_ranks 1\nrank 0 {\n", "line 2: ends within rank 0"),
        ("num_ranks 1\nrank 1 {\n", "line 2: '1' is too large; valid: 0 to 0"),
        ("num_ranks 2\nrank 0 {\nl1: send 1b to 2 tag 0\n}\n", "line 3: '2' is too large; valid: 0 to 1"),
        ("num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l2\n}\n", "line 4: no operation is called 'l2'"),
        ("num_ranks 1\nrank 0 {\nl1: calc 1\nl1: calc 1\n}\n", "label 'l1' is there twice"),
        ("num_ranks 1\nrank 0 {\njump \x1b[31m\n}\n", r"line 3: 'jump \x1b[31m' is no operation"),
        ("num_ranks 1\nrank 0 {\nl1: calc 1\n}\nrank 0 {\n", "rank 0 is there twice"),
        ("x" * 2000, "line 1: is longer than 1000 characters"),
    ],
)
def test_what_is_no_goal_says_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PreadyError, match=re.escape(said)):
        read(tmp_path, text)


def test_a_circle_of_requirements(tmp_path: Path) -> None:
    goal = read(
        tmp_path,
        "num_ranks 2\nrank 0 {\nl1: send 1b to 1\nl2: calc 1\nl1 requires l2\nl2 requires l1\n}\nrank 1 {\n}\n",
    )
    with pytest.raises(PreadyError, match="2 operations of rank 0 wait for each other"):
        step_of_goal(goal, "t", threads=1, steps=None, spread="4 %")


@given(st.binary(max_size=200) | st.text(alphabet="num_raks 0123{}l:sendbtoqu\n/*", max_size=200).map(str.encode))
def test_any_bytes_are_goal_or_an_error_of_ours(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("goal") / "t"
    path.write_bytes(content)
    try:
        read_goal(path)
    except PreadyError as error:
        assert str(error).isprintable()
