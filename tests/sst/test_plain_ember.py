"""What SST's users do with the library: plain Ember files, files of ours from anywhere, statistics, the commands."""

import csv
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given import Patch
from tables import table_of

from pready.cli import main
from pready.commands.command_lines import EXAMPLES
from pready.model.approach.interfaces import MANY, PART, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.firefly import HOP_NS
from pready.sst.job import Setup, setup, write_config
from pready.sst.results import read_records
from pready.sst.run import run
from pready.sst.runs import simulate_approach

pytestmark = [pytest.mark.needs("sst"), pytest.mark.usefixtures("sst")]

EXAMPLE = Path("examples/sst/dragonfly_partitioned.py")


def halo(buffer: str = "64 KiB", **options: Any) -> Setup:
    fields = {"threads": 4, "buffer": buffer, "pattern": "halo3d", "receiver": "computing", "grid": [2, 2, 2]}
    w = Workload.model_validate(fields | {"compute": {"time": "20 us"}, "ranks_per_node": options.pop("each", None)})
    network = str(options.pop("network", "single"))
    return setup(load("meluxina"), w, network, iterations=2, **options)


def sst_alone(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Plain ``sst FILE`` from another folder."""
    command = [library.find().sst, os.path.relpath(path, folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_the_example_is_plain_ember(tmp_path: Path) -> None:
    done = sst_alone(EXAMPLE, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pready.PartExchange: 72 ranks, part, 8 threads x 1 partitions, 4 iterations" in done.stdout
    said = re.findall(r"(\w+)\s:\sAccumulator : .*?Sum\.\w+ = ([\d.]+);.*?Count\.u64 = (\d+)", done.stdout)
    early = [float(total) / int(count) for name, total, count in said if name.endswith("left_before_join")]
    # 7 of 8 messages to each of 6 peers leave before the last thread.
    assert len(early) == 72
    assert early == pytest.approx([87.5] * 72)


@pytest.mark.parametrize(("old", "new", "message"), table_of("sst/refused")["ember"])
def test_an_argument_that_is_wrong_is_an_error_with_what_is_right(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(EXAMPLE.read_text().replace(old, new))
    with pytest.raises(PreadyError) as error:
        run(path)
    assert message in str(error.value)


def test_a_configuration_runs_from_anywhere_and_names_no_folder(tmp_path: Path) -> None:
    (there := tmp_path / "my runs=1").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    s = halo()
    record = write_config(s, Approach(PART, 4), there / "halo x.py")
    text = (there / "halo x.py").read_text()
    assert str(Path.home()) not in text
    assert str(tmp_path) not in text
    assert not re.search(r"\d{12}", text)  # numbers as a person writes them
    done = sst_alone(there / "halo x.py", elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert record.name == "halo x.csv"
    by_hand = read_records(record, 8, 3)
    ours = simulate_approach(s, Approach(PART, 4), elsewhere)
    assert np.array_equal(by_hand.end, ours.end)
    assert list(elsewhere.glob("*.csv"))


@pytest.mark.parametrize("approach", [Approach(SINGLE), Approach(MANY, 4)], ids=["single", "many"])
def test_statistics_of_sst_are_those_of_the_record(tmp_path: Path, approach: Approach) -> None:
    found = simulate_approach(halo(), approach, tmp_path)
    (file,) = tmp_path.glob("*.counts.csv")
    rows = list(csv.DictReader(file.read_text().splitlines(), skipinitialspace=True))

    def total(statistic: str) -> float:
        some = [r for r in rows if r["StatisticName"] == statistic]
        assert len(some) == 8
        assert sum(int(r["Count.u64"]) for r in some) == 8 * 3
        return sum(float(r["Sum.u64"] or 0) + float(r["Sum.f64"] or 0) for r in some)

    assert total("iteration_time") == pytest.approx(1e12 * (found.end - found.start).sum())
    assert total("wait_time") == pytest.approx(1e12 * (found.end - found.join).sum())
    share = total("left_before_join") / 24
    assert 0 < share < 100 if approach.messages > 1 else share == 0


def one_way(tmp_path: Path, network: str) -> list[float]:
    """Of 64 KiB from the even rank of each of 8 pairs to its neighbour, seconds."""
    w = Workload.model_validate({"threads": 1, "pattern": "pt2pt", "buffer": "64 KiB"})
    s = setup(load("meluxina"), w, network, (16,), iterations=1)
    record = simulate_approach(s, Approach(SINGLE), tmp_path)
    received = record.table(record.completion)[1, 1::2]
    return [float(t) for t in received - record.table(record.ready)[1, ::2]]


@pytest.mark.parametrize("network", ["fattree:2:4", "dragonfly", "hyperx:2x4", "torus"])
def test_hosts_of_one_switch_are_as_far_apart_as_on_one_router(tmp_path: Path, network: str) -> None:
    (alone,) = {round(t, 13) for t in one_way(tmp_path, "single")}
    # Ranks 2k and 2k + 1 share a switch, but in a torus, where each has its own: one cable between routers more, which
    # each of the fetch's three crossings takes.
    hop = 3 * HOP_NS * 1e-9 if network == "torus" else 0.0
    assert one_way(tmp_path, network) == pytest.approx([alone + hop] * 8, rel=2e-3 if hop else 1e-5)


def after(s: Setup, approach: Approach, folder: Path) -> float:
    record = simulate_approach(s, approach, folder)
    assert int(record.messages.sum()) == 3 * s.ranks * 6 * approach.messages
    return float((record.completion - record.ready)[record.iteration > 0].mean())


def test_a_node_is_shared_by_its_ranks(tmp_path: Path) -> None:
    apart, together = (after(halo("1 MiB", each=each), Approach(SINGLE), tmp_path) for each in (None, 2))
    # Two ranks of a node send four faces each over one cable, where one sent six; a message within a node has no cable.
    face = 2**20 / load("meluxina").bandwidth
    assert together == pytest.approx(8 * face, rel=0.05)
    assert apart == pytest.approx(6 * face, rel=0.1)


def test_another_job_slows_a_halo_down_where_they_share_cables(tmp_path: Path) -> None:
    each: tuple[dict[str, Any], ...] = ({}, {"background": 2**20, "allocation": "random"}, {"background": 2**20})
    made = (halo(network="fattree:4:4", **options) for options in each)
    alone, beside, apart = (after(s, Approach(SINGLE), tmp_path) for s in made)
    assert beside > 1.2 * alone
    assert beside > apart


# `validate sst` takes minutes: packaging/sst/checks.sh runs it, with three seeds.
SST_EXAMPLES = [line for name, lines in EXAMPLES.items() if "sst" in name.split() for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("line", SST_EXAMPLES)
def test_every_example_runs_from_a_folder_with_a_blank(tmp_path: Path, monkeypatch: Patch, line: str) -> None:
    (folder := tmp_path / "my runs").mkdir()
    (folder / "examples").symlink_to(Path("examples").absolute())
    (folder / "sst-elements").mkdir()
    (folder / "sst-elements/src").symlink_to(str(library.source_folder(library.find().config)))
    monkeypatch.setenv(library.HEADERS, "")  # to be restored: an option sets it
    (folder / "halo.toml").symlink_to(Path("examples/halo3d.toml").absolute())
    monkeypatch.chdir(folder)
    words = shlex.split(line)
    assert words.pop(0) == "pready"
    if "--processes" in words and shutil.which("mpirun") is None:
        pytest.skip("no mpirun on PATH, by which several processes of SST start")
    assert main(words) == 0
