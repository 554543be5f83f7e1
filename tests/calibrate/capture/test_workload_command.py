"""``pready workload``: the file that it writes says what the captured program did."""

from pathlib import Path

import numpy as np
import pytest
from command_line import refused
from given import Capsys
from programs import Mpi, each_library
from tables import table_of

from pready.cli import main
from pready.model.engine.plan import drawn_times
from pready.model.workload import workload

mpi = each_library


def stencil(mpi: Mpi, folder: Path, words: str) -> list[str | Path]:
    return [mpi.stencil(), *words.split(), str(folder / "truth")]


CASES = table_of("calibrate/captured_programs")["stencils"]


@pytest.mark.thorough
@pytest.mark.alone
@pytest.mark.parametrize("case", sorted(CASES))
def test_the_file_says_what_the_program_did(mpi: Mpi, tmp_path: Path, case: str, capsys: Capsys) -> None:
    words, ranks, fields = CASES[case].values()
    done, run = mpi.captured(ranks, stencil(mpi, tmp_path, words), tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert run is not None
    out = tmp_path / "app.toml"
    assert main(["workload", str(tmp_path / "run"), "-o", str(out), "--set", "arrivals.model=trace"]) == 0
    w = workload.load(out)
    expected = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    assert {name: getattr(w, name) for name in fields} == expected
    assert (w.iterations, w.ranks_per_node, w.receiver, w.exchanges) == (12, ranks, "computing", None)
    # The threads' times: the program's own, and the little that one thread does before and after the region.
    drawn = drawn_times(w, 11 * ranks, seed=0)
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
        assert "valid: the folder that 'pready capture -o' wrote" in refused(capsys, "workload", folder)
