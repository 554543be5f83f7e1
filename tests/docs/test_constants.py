"""Constants of the draws are those that docs/theory/uncertainty.md lists, chosen numbers those of their page."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import chosen_numbers

from pready.model.advice import inputs, savings
from pready.model.engine import runs
from pready.model.machine import threads
from pready.model.timeline import alternatives, own_error, sampling

DOCUMENT = Path("docs/theory/uncertainty.md")
ROOMS = (
    *sorted(Path("model/advice").glob("*.py")),
    *(Path("model") / f for f in ("engine/runs.py", "result/interval.py", "timeline/alternatives.py")),
    *(Path("model") / f for f in ("timeline/sampling.py", "timeline/own_error.py", "machine/threads.py")),
)
NO_TUNING = {"DRAWS", "STREAM_PARAMETERS", "_STEPS", "VALUES", "SHARES", "WAYS"}
"""13², a random stream, the accuracy of an integral, row 0, what is said, and the names of ways."""


def numbers(file: Path) -> Iterator[str]:
    """Names of a file's constants that hold a number, by themselves or in a table."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and n.id.strip("_").isupper()]
        if any(isinstance(n, ast.Constant) and type(n.value) in (int, float) for n in ast.walk(node.value)):
            yield from names


def listed() -> dict[str, str]:
    text = DOCUMENT.read_text(encoding="utf-8").partition("**Constants.**")[2]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, re.MULTILINE))


def test_all_are_listed_and_no_more_than_six_steer() -> None:
    found = [name for file in ROOMS for name in numbers(file)]
    table = listed()
    assert sorted({*found} - NO_TUNING) == sorted(table)
    assert len(found) == len({*found})
    steering = DOCUMENT.read_text(encoding="utf-8").partition("| statement |")[0]
    assert sum(f"`{name}`" in steering.partition("| constant |")[2] for name in table) <= 6


def test_their_values_are_those() -> None:
    table = listed()
    assert int(table["LEVELS"]) == sampling.LEVELS == sampling.DRAWS**0.5
    assert int(table["EXCHANGES"]) == runs.EXCHANGES
    assert table["MOST_MESSAGES"] == f"{runs.MOST_MESSAGES // 10**6} million"
    assert int(table["CHOICE"]) == savings.CHOICE
    assert int(table["BINS"]) == inputs.BINS
    assert float(table["LEAST"]) == inputs.LEAST
    assert [float(x) for x in table["AS_SAID"].split(", ")] == sorted({*alternatives.AS_SAID.values()}, reverse=True)
    assert float(table["ASSUMED_TIMES"]) == threads.ASSUMED_TIMES
    assert [f"{100 * half:.3g}" for half in own_error.HALF_WIDTH.values()] == table["HALF_WIDTH"][:-2].split(", ")


def test_chosen_numbers_are_those_of_their_page() -> None:
    """Nothing else can say that a limit is wrong: whoever changes one says so where users read it."""
    assert chosen_numbers.page() == chosen_numbers.PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_a_constant_in_a_table_is_found(tmp_path: Path) -> None:
    """Negative control."""
    file = tmp_path / "a.py"
    file.write_text('ONE: float = 0.5\nTWO, THREE = 1, 2\nTEXT = "1"\nTABLE = {"a": 1e-3}\n', encoding="utf-8")
    assert [*numbers(file)] == ["ONE", "TWO", "THREE", "TABLE"]
