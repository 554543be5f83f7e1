"""The motifs inside SST. Skipped, with the reason counted, where there is none."""

import csv
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from on_ranks import simulate

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.engine.layout import layout
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.firefly import HEADER_BYTES
from pready.sst.job import setup
from pready.sst.parameters import FILES, parameters
from pready.sst.ping_pong import ping_pong, sizes_for
from pready.sst.results import Record, times
from pready.sst.run import How
from pready.sst.runs import simulate_approach

pytestmark = [pytest.mark.needs("sst"), pytest.mark.usefixtures("sst")]


def workload(**fields: Any) -> Workload:
    base: dict[str, Any] = {"name": "w", "threads": 4, "buffer": "32 KiB", "pattern": "halo3d", "receiver": "computing"}
    return Workload.model_validate(base | {"compute": {"time": "20 us"}} | fields)


def outcome(tmp_path: Path, network: str, ranks: tuple[int, ...], approach: Approach, **options: Any) -> Record:
    how = options.pop("how", None)
    fields = options.pop("fields", {})
    s = setup(load("meluxina"), workload(**fields), network, ranks, **({"iterations": 2} | options))
    return simulate_approach(s, approach, tmp_path, how)


def test_sst_knows_the_library_and_its_parameters(sst: Path) -> None:
    command = [library.find().info, f"--add-lib-path={sst}", "pready"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "warning" not in (done.stdout + done.stderr).lower()
    for motif in FILES:
        assert f"{motif}Motif" in done.stdout
        for p in parameters(motif).values():
            assert f"arg.{p.name}" in done.stdout
            assert p.meaning in done.stdout


def counted(folder: Path, name: str) -> int:
    """What all NICs counted, from SST's CSV."""
    (file,) = folder.glob("*.counts.csv")
    rows = csv.DictReader(file.read_text().splitlines(), skipinitialspace=True)
    return sum(int(r["Sum.u64"] or 0) for r in rows if r["StatisticName"] == name)


@pytest.mark.parametrize("network", ["single", "torus", "fattree:2:adaptive", "dragonfly:ugal", "hyperx:adaptive"])
@pytest.mark.parametrize("pattern", ["pt2pt", "halo3d", "halo3d26", "sweep3d"])
def test_every_motif_on_every_topology(tmp_path: Path, network: str, pattern: str) -> None:
    approach = Approach(MANY, 4)
    found = outcome(tmp_path, network, (8,), approach, fields={"pattern": pattern})
    sent, size = int(found.messages.sum()), int(found.bytes.sum())
    # 3 iterations. 2 x 2 x 2 periodic: 6 messages to 3 peers; 27-point: 26 to 7 peers; sweep: 10 edges of a 4 x 2 grid.
    buffers = {"pt2pt": 4, "halo3d": 8 * 6, "halo3d26": 8 * 26, "sweep3d": 8 * 10}[pattern]
    acks = 3 * 4 if pattern == "pt2pt" else 0
    assert sent == 3 * buffers * 4 + acks
    assert size == 3 * buffers * 32768 + acks
    # What NICs count: the payload, and with each message Firefly's match header of 32 B and the NIC's own of 13 B.
    # Ember's Init and Fini meet in a barrier: an empty message up and one down a tree of all ranks.
    assert counted(tmp_path, "sentByteCount") == size + (HEADER_BYTES + 13) * (sent + 2 * 7)
    assert counted(tmp_path, "rcvdByteCount") == counted(tmp_path, "sentByteCount")


def test_ping_pong_takes_the_machines_times() -> None:
    found = ping_pong(load("meluxina"))
    assert [r.size for r in found] == sizes_for(load("meluxina"))
    assert max(abs(r.relative) for r in found) < 0.01


def test_two_ranks_agree_with_predict_and_the_engine(tmp_path: Path) -> None:
    machine = load("meluxina")
    w = workload(pattern="pt2pt", receiver="waiting", buffer="4 MiB", arrivals={"model": "laggard", "delay": "50 us"})
    s = setup(machine, w, "single", (2,), iterations=2)
    model = {(a.key, a.transport_partitions, a.vcis): a.time_s for a in predict(machine, w, draws=0).approaches}
    for approach in (Approach(SINGLE), Approach(MANY, 2), Approach(MANY, 4)):
        found = times("pt2pt", simulate_approach(s, approach, tmp_path)).after_ready[1:].mean()
        assert found == pytest.approx(model[approach.interface.key, approach.transport_partitions, 1], rel=0.05)
        engine = simulate(machine, w, approach, grid=(2,), iterations=2).communication_s.mean()
        assert found == pytest.approx(engine, rel=0.05)


UNEQUAL: dict[str, dict[str, object]] = {
    "halo3d": {"faces": ["256 KiB", "64 KiB", "1 MiB"]},
    "halo3d26": {"faces": ["256 KiB", "64 KiB", "1 MiB"], "edges": ["32 KiB", "8 KiB", "128 KiB"], "corner": "4 KiB"},
}


@pytest.mark.parametrize("pattern", UNEQUAL)
@pytest.mark.parametrize("grid", [(2, 1, 1), (2, 2, 2), (4, 4, 4)])
def test_unequal_faces_agree_with_the_engine(tmp_path: Path, grid: tuple[int, int, int], pattern: str) -> None:
    like = {"threads": 4, "pattern": pattern, "receiver": "computing", "compute": {"time": "500 us"}, "grid": grid}
    w, machine = Workload.model_validate(like | UNEQUAL[pattern]), load("meluxina")
    s = setup(machine, w, "single", iterations=1, packet=4096 if grid == (4, 4, 4) else 0)
    for approach in (Approach(SINGLE), Approach(MANY, 4)):
        record = simulate_approach(s, approach, tmp_path)
        found = times(pattern, record).after_ready[1:].mean()
        engine = simulate(machine, w, approach, iterations=2, **vars(layout(w))).communication_s.mean()
        assert found == pytest.approx(engine, rel=0.1)
        if grid == (2, 2, 2):  # all neighbours are other ranks: twice each face, four times each edge, eight corners
            kib = 2 * (256 + 64 + 1024) + (4 * (32 + 8 + 128) + 8 * 4 if pattern == "halo3d26" else 0)
            assert (record.bytes == kib * 1024).all()


def test_two_threads_of_sst_give_the_times_of_one(tmp_path: Path) -> None:
    serial = outcome(tmp_path, "torus", (8,), Approach(MANY, 4))
    threaded = outcome(tmp_path, "torus", (8,), Approach(MANY, 4), how=How(threads=2))
    assert np.array_equal(serial.completion, threaded.completion, equal_nan=True)
