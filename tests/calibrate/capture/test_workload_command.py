"""``pready workload``: the file that it writes says what the captured program did."""

from pathlib import Path

import numpy as np
import pytest
from given import Capsys
from programs import Mpi, each_library

from pready.cli import main
from pready.model.workload import draws, workload

mpi = each_library


def stencil(mpi: Mpi, folder: Path, words: str) -> list[str | Path]:
    return [mpi.stencil(), *words.split(), str(folder / "truth")]


CASES = {
    # 4 × 2 ranks, open at the border: a 7-point halo.
    "7": ("7 4 2 1 0 6000 600 60 0 0 12 3 1000 laggard 0.5 isend", 8),
    # 2 × 2 × 2 ranks, open: every rank has 3 faces, 3 edges, 1 corner.
    "27": ("27 2 2 2 0 6000 600 60 48 8 12 2 1000 laggard 0.5 early", 8),
    # 3 × 1 ranks that wrap around.
    "periodic": ("7 3 1 1 1 960 96 24 0 0 12 2 1000 normal 0.05 persistent", 3),
}
EXPECTED: dict[str, dict[str, object]] = {
    "7": {"pattern": "halo3d", "boundaries": "open", "grid": (4, 2, 1), "threads": 3, "faces": (6000, 600, 6000)},
    "27": {
        "pattern": "halo3d26", "boundaries": "open", "grid": (2, 2, 2), "threads": 2, "faces": (6000, 600, 60),
        "edges": (48, 48, 48), "corner": 8,
    },
    "periodic": {"pattern": "halo3d", "boundaries": "periodic", "grid": (3, 1, 1), "threads": 2,
                 "faces": (960, 960, 960)},
}  # fmt: skip
"""Of an axis with one rank the file says the largest face: nothing is sent along it."""


@pytest.mark.thorough
@pytest.mark.alone
@pytest.mark.parametrize("case", sorted(CASES))
def test_the_file_says_what_the_program_did(mpi: Mpi, tmp_path: Path, case: str, capsys: Capsys) -> None:
    words, ranks = CASES[case]
    done, run = mpi.captured(ranks, stencil(mpi, tmp_path, words), tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert run is not None
    out = tmp_path / "app.toml"
    assert main(["workload", str(tmp_path / "run"), "-o", str(out), "--set", "arrivals.model=trace"]) == 0
    w = workload.load(out)
    assert {name: getattr(w, name) for name in EXPECTED[case]} == EXPECTED[case]
    assert (w.iterations, w.ranks_per_node, w.receiver, w.exchanges) == (12, ranks, "computing", None)
    # The threads' times: the program's own, and the little that one thread does before and after the region.
    drawn = draws.draw(w, 11 * ranks, seed=0)
    own = np.concatenate([np.loadtxt(tmp_path / f"truth.{rank}")[1:] for rank in range(ranks)]) * 1e-6
    assert drawn.shape == own.shape
    spread, own_spread = (np.median(t.max(axis=1) - t.min(axis=1)) for t in (drawn, own))
    assert abs(spread - own_spread) <= max(0.05 * own_spread, 20e-6)
    assert w.thread_time == pytest.approx(drawn.mean(), rel=1e-6)
    assert main(["predict", str(out), "--machine", "niagara", "--json"]) in (0, 2)
    said = capsys.readouterr()
    assert "compute_cells" not in said.err


def test_no_run(tmp_path: Path, capsys: Capsys) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        assert main(["workload", str(folder)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "valid: the folder that 'pready capture -o' wrote" in said.err
