"""Whatever workload somebody brings, all commands take it, or say what in the file they cannot simulate."""

import io
import os
import random
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from random_workloads import PATTERNS, toml, write_times
from random_workloads import workload as fields_of

from pready.cli import main
from pready.model.common.errors import PreadyError, shown
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload, load

CASES = round(6 * float(os.environ.get("PREADY_EXAMPLES", "1")))


def drawn(rng: random.Random) -> dict[str, Any]:
    """A workload file's fields, a broadcast among them, and what else an exchange may have; few iterations."""
    fields = fields_of(rng, rng.choice(PATTERNS), intra=False) | {"iterations": 5}
    n = fields["threads"] * fields["partitions_per_thread"]
    fields |= rng.choice(({}, {}, {"receive_partitions": n}, {"consume": {"time": "20 us"}}, {"interior": "80 %"}))
    return fields | ({"pattern": "bcast", "grid": [5]} if fields["pattern"] == "pt2pt" and rng.random() < 0.3 else {})


def command(*arguments: object) -> str:
    """Empty if a command succeeds, else its error."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        status = main([str(a) for a in arguments])
    assert status in (0, 2)
    return said.getvalue().removeprefix("pready: error: ").strip() if status else ""


def true_of(error: str, workload: Workload, fields: dict[str, Any]) -> bool:
    """Does an error name something that is in the file: a field with its value, or what an engine lacks for it?"""
    needs = [n.name for n in supported_by.NEEDS if n.asked(workload) or any(map(n.asked, workload.parts))]
    tables = [fields, *fields.get("exchanges", ())]
    given = [f"{name} = {shown(value)}" for table in tables for name, value in table.items()]
    given += [f"exchanges[{i}] has" for i in range(len(workload.parts))]
    given += [f"neighbour_list of {len(t['neighbour_list'])} ranks" for t in tables if "neighbour_list" in t]
    return any(words in error for words in (*needs, *given))


@pytest.mark.slow
@pytest.mark.parametrize("case", range(CASES))
def test_a_workload_is_taken_by_all_or_refused_in_words_that_are_true(case: int, tmp_path: Path) -> None:
    rng, path = random.Random(f"every-{case}"), tmp_path / "w.toml"
    write_times(tmp_path)
    workload: Workload | None = None
    while workload is None:  # combinations that the file format refuses occur, and are drawn again
        fields = drawn(rng)
        path.write_text("\n".join(f"{k} = {toml(v)}" for k, v in fields.items()), encoding="utf-8")
        try:
            workload = load(path)
        except PreadyError:
            continue
    more = {"sweep": ("--set", "seed=1"), "simulate": ("--set", "iterations=2")}
    given = ("--machine", rng.choice(("meluxina", "bebop", "alps")))
    commands = ("predict", "explain", "compare", "sweep", "simulate")
    said = {name: command(name, path, *given, *more.get(name, ())) for name in commands}
    refusals = {by: error for by, error in said.items() if error}
    for by, error in refusals.items():
        assert true_of(error, workload, fields), (by, error)
    if workload.exchanges is not None and refusals.keys() == {"explain"}:
        assert refusals["explain"].startswith("several exchanges per step")  # it shows one
        return
    assert len(refusals) in (0, len(said)), refusals
