"""Whatever workload somebody brings, all commands take it, or say what in the file they cannot simulate."""

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_once import generated
from random_workloads import toml
from tables import table_of

from pready.cli import main
from pready.model.common.errors import PreadyError, shown
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload, load

MACHINES = ("meluxina", "bebop", "alps")


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


DRAWN = table_of("pready/drawn")


@st.composite
def exchange_fields(draw: st.DrawFn, pattern: str, threads: int) -> dict[str, Any]:
    """Fields of one exchange of a pattern; combinations that the file format refuses occur, and are drawn again."""
    theta = draw(one_of(1, 1, 2))
    unit = threads * theta

    def size() -> str:
        return f"{unit * draw(one_of(8, 1000, 9000, 64000, 600000))} B"

    fields: dict[str, Any] = {"pattern": pattern, "partitions_per_thread": theta, "buffer": size()}
    fields |= {"compute": draw(one_of(*DRAWN["compute"])), "arrivals": draw(one_of(*DRAWN["arrivals"]))}
    if pattern == "neighbours":
        fields["neighbour_list"] = draw(one_of(*DRAWN["neighbour_lists"]))
        if isinstance(fields["neighbour_list"][0][0], dict):
            del fields["buffer"]
    more: dict[str, st.SearchStrategy[Any]] = {
        "receiver": one_of("waiting", "computing"),
        "receive_partitions": one_of(1, unit),
        "consume": one_of({"time": "20 us"}, {"per_byte": "0.1 ns/B", "threads": 1}),
        "transport_partitions": one_of([1], [threads]),
    }
    if pattern == "pt2pt":
        more["both_ways"] = one_of(True)
    if pattern in ("halo3d", "halo3d26"):
        more["thread_grid"] = one_of([threads, 1, 1])
        more["faces"] = one_of([f"{64 * unit} B"] * 3, [f"{8000 * unit} B", f"{900 * unit} B", f"{70 * unit} B"])
    if pattern == "halo3d26":
        more |= {"edge": one_of(f"{16 * unit} B"), "corner": one_of(f"{8 * unit} B")}
    if pattern == "sweep3d":
        more["blocks"] = one_of(2, 4)
    if pattern in ("halo3d", "halo3d26", "sweep3d"):
        more["boundaries"] = one_of("open")
    for name in draw(st.lists(one_of(*more), max_size=2, unique=True)):
        fields[name] = draw(more[name])
    if "faces" in fields:
        del fields["buffer"]
    return fields


GRIDS: dict[str, list[list[int]]] = DRAWN["grids"]


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """A workload file: one exchange, or a step of several."""
    threads = draw(one_of(1, 2, 4, 8))
    pattern = draw(one_of(*GRIDS))
    fields: dict[str, Any] = {"threads": threads, "iterations": 5}
    more = {
        "today": one_of("blocking", "threads", "persistent"),
        "ranks_per_node": one_of(2, 4),
        "cache": one_of("cold"),
        "path": one_of("intra"),
    }
    for name in draw(st.lists(one_of(*more), max_size=1)):
        fields[name] = draw(more[name])
    with_grid: bool = draw(st.booleans())
    if GRIDS[pattern] and with_grid:
        fields["grid"] = draw(one_of(*GRIDS[pattern]))
    if draw(st.integers(0, 4)):
        return fields | draw(exchange_fields(pattern, threads))
    each = [draw(exchange_fields(pattern, threads)) for _ in range(draw(one_of(1, 2)))]
    fields["exchanges"] = [*each, draw(exchange_fields(draw(one_of(*GRIDS)), threads))]
    return fields


def command(*arguments: object) -> str:
    """Empty if a command succeeds, else its error."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        status = main([str(a) for a in arguments])
    assert status in (0, 2)
    return said.getvalue().removeprefix("pready: error: ").strip() if status else ""


def answers(path: Path, machine: str) -> dict[str, str]:
    """What every command says of a workload: nothing, or its error."""
    more = {"sweep": ("--set", "seed=1"), "simulate": ("--set", "iterations=2")}
    commands = ("predict", "explain", "compare", "sweep", "simulate")
    return {name: command(name, path, "--machine", machine, *more.get(name, ())) for name in commands}


def true_of(error: str, workload: Workload, fields: dict[str, Any]) -> bool:
    """Does an error name something that is in the file: a field with its value, or what an engine lacks for it?"""
    needs = [n.name for n in supported_by.NEEDS if n.asked(workload) or any(map(n.asked, workload.parts))]
    tables = [fields, *fields.get("exchanges", ())]
    given = [f"{name} = {shown(value)}" for table in tables for name, value in table.items()]
    given += [f"exchanges[{i}] has" for i in range(len(workload.parts))]
    given += [f"neighbour_list of {len(t['neighbour_list'])} ranks" for t in tables if "neighbour_list" in t]
    return any(words in error for words in (*needs, *given))


@pytest.mark.slow
@generated(7)
@given(files(), one_of(*MACHINES))
def test_a_workload_is_taken_by_all_or_refused_in_words_that_are_true(
    tmp_path: Path, fields: dict[str, Any], machine: str
) -> None:
    path = tmp_path / "w.toml"
    path.write_text("\n".join(f"{k} = {toml(v)}" for k, v in fields.items()), encoding="utf-8")
    try:
        workload = load(path)
    except PreadyError:
        assume(False)
    said = answers(path, machine)
    refusals = {by: error for by, error in said.items() if error}
    for by, error in refusals.items():
        assert true_of(error, workload, fields), (by, error)
    if workload.exchanges is not None and refusals.keys() == {"explain"}:
        assert refusals["explain"].startswith("several exchanges per step")  # it shows one
        return
    assert len(refusals) in (0, len(said)), refusals
