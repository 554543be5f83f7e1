"""The atlas: its page says what its data say, its data are what `predict` says today."""

import re
from collections import Counter
from pathlib import Path
from statistics import median

import atlas
import pytest

ROWS = atlas.read()


def test_the_page_is_made_of_the_data() -> None:
    assert Path("docs/atlas.md").read_text(encoding="utf-8") == atlas.page(ROWS)
    assert len(ROWS) == len(atlas.points())


def test_each_sentence_is_what_the_data_say() -> None:
    """Counted again, field by field."""
    first, second, third = (list(map(float, re.findall(r"\d+(?:\.\d+)?", said))) for said in atlas.sentences(ROWS))
    paying = Counter[str]()
    where, early = set(), list[float]()
    late = 0
    for row in ROWS:
        for way in atlas.WAYS:
            paying[way] += row[f"{way}_probability"] != "" and float(row[f"{way}_probability"]) >= 0.8
        if row["partitioned_probability"] and float(row["partitioned_probability"]) >= 0.8:
            where.add((row["library"], row["machine"]))
        if row["early_percent"] != row["partitioned_percent"]:
            late += 1
            if float(row["early_probability"]) >= 0.8:
                early.append(float(row["early_percent"]))
    pairs = {(row["library"], row["machine"]) for row in ROWS}
    machines = {row["machine"] for row in ROWS}
    no_rma, no_request = (len({r["machine"] for r in ROWS if r[f"{n}_unmeasured"]}) for n in ("rma", "request"))
    counts = [paying[way] for way in ("threads", "persistent")]
    assert first == [paying["partitioned"], len(ROWS), len(where), len(pairs), *counts]
    assert second == [len(early), late, pytest.approx(median(early), abs=0.05)]
    assert third == [paying["rma"], no_rma, len(machines), no_request]


@pytest.mark.thorough
@pytest.mark.parametrize("number", [5, 250, 455])
def test_a_point_is_what_is_predicted(number: int) -> None:
    found, kept = atlas.row_of(atlas.points()[number]), ROWS[number]
    for name, said in kept.items():
        if name.endswith(("_percent", "_probability")) and said:
            assert float(found[name]) == pytest.approx(float(said), rel=1e-6), name
        else:
            assert found[name] == said, name
