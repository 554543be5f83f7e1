"""The atlas: its page says what its data say, its data are what `predict` says today."""

from pathlib import Path

import atlas
import pytest

ROWS = atlas.read()


def test_the_page_is_made_of_the_data() -> None:
    assert Path("docs/atlas.md").read_text(encoding="utf-8") == atlas.page(ROWS)
    assert len(ROWS) == len(atlas.points())


@pytest.mark.thorough
@pytest.mark.parametrize("number", [5, 250, 455])
def test_a_point_is_what_is_predicted(number: int) -> None:
    found, kept = atlas.row_of(atlas.points()[number]), ROWS[number]
    for name, said in kept.items():
        if name.endswith(("_percent", "_probability")) and said:
            assert float(found[name]) == pytest.approx(float(said), rel=1e-6), name
        else:
            assert found[name] == said, name
