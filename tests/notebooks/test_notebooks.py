"""Every notebook runs in a clean kernel, says what is committed, and is fit to be committed."""

import re
from pathlib import Path

import execute
import nbformat
import pytest

pytestmark = pytest.mark.thorough

NOTEBOOKS = sorted(execute.FOLDER.glob("*.ipynb"))
assert len(NOTEBOOKS) == 6
LARGEST = 400_000
TEXTS = ("text/plain", "text/html", "text/markdown", "text/latex")


def said(notebook: nbformat.NotebookNode) -> list[str]:
    """What the cells print and show, pictures left out: their pixels depend on installed fonts."""
    out = []
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if "text" in output:
                out.append(f"cell {number}, {output['name']}: {output['text']}")
            out += [
                f"cell {number}, {kind}: {output['data'][kind]}" for kind in TEXTS if kind in output.get("data", {})
            ]
    return out


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


LOOK = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1] / "support")!r})
import matplotlib.pyplot
from IPython.display import display
from readable import check_readable
def look():
    for number in matplotlib.pyplot.get_fignums():
        figure = matplotlib.pyplot.figure(number)
        check_readable(figure)
        display(dict([("text/plain", repr(figure))]), raw=True)
    matplotlib.pyplot.close("all")
matplotlib.pyplot.show = look
"""
"""Each figure is looked at where it would be shown, which draws it once; its pixels are not compared anyway."""


def test_runs_and_says_what_is_committed_and_its_figures_can_be_read(path: Path) -> None:
    fresh = said(execute.executed(path, LOOK))
    assert not [line for line in fresh if ", stderr: " in line]
    assert fresh == said(nbformat.read(path, as_version=4)), "run `make notebooks` and read what has changed"


def test_is_fit_to_be_committed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert len(text) < LARGEST
    assert not re.findall(r"/(?:home|root|tmp|work|Users)/", text)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_a_label_on_a_curve_and_a_warning_are_seen(tmp_path: Path) -> None:
    # Negative controls of the look at figures and of "no stderr".
    curve = "import matplotlib.pyplot as plt; plt.plot([0, 1]); plt.text(0.5, 0.5, 'label'); plt.show()"
    cells = [nbformat.v4.new_code_cell(code) for code in ("import warnings; warnings.warn('look')", curve)]
    cells[1].metadata["tags"] = ["raises-exception"]  # else what came before is lost
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "bad.ipynb")
    done = execute.executed(tmp_path / "bad.ipynb", LOOK)
    assert any("stderr: " in line and "look" in line for line in said(done))
    assert [o.evalue for o in done.cells[1].outputs if o.output_type == "error"] == ["'label' on a curve"]
