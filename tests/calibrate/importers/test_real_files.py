"""Public results of real clusters, in a folder that PREADY_FABRICS names: imported, or refused for the right reason.

Rendezvous: the size that shows, or that the library is known to have, within one size; sources in the folder's README.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given import Patch
from on_ranks import simulate
from present import present
from results_of_suites import read
from tables import table_of

from pready.calibrate.fit.observations import DEFAULT_WINDOW, Curve, Observations
from pready.calibrate.fit.windows import ANSWER, without_answers
from pready.calibrate.importers import to_machine
from pready.calibrate.importers.collect import Imported, collected, runs_of
from pready.calibrate.importers.plausible import without_untouched
from pready.calibrate.importers.text import ImportFormatError
from pready.calibrate.importers.to_machine import from_files
from pready.calibrate.machine.from_messages import Fitted, fitted
from pready.calibrate.machine.round_trip import round_trip
from pready.calibrate.machine.values.segments import one_way
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import library
from pready.model.machine.machine import Fabric, Machine, load
from pready.model.machine.transports import Transport, transport
from pready.model.workload import workload
from pready.model.workload.workload import Workload

FOLDER = Path(os.environ.get("PREADY_FABRICS", "nowhere"))
pytestmark = pytest.mark.needs("fabrics")

TABLES = table_of("calibrate/real_clusters")
CLUSTERS: dict[str, tuple[Sequence[str], str, Fabric, int, Sequence[str]]] = TABLES["clusters"]
MORE: dict[str, tuple[dict[str, str], str, Fabric]] = TABLES["more"]
OWN: dict[str, str] = TABLES["own"]


def paths(names: Sequence[str]) -> list[Path]:
    return [FOLDER / name for name in names]


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_rendezvous_is_found_within_one_size(name: str) -> None:
    files, lib, fabric, known, take = CLUSTERS[name]
    machine = from_files(paths(files), name=name, library=lib, fabric=fabric, take=take).machine
    first = next(s for s in machine.inter.segments if s.protocol == "rendezvous")
    assert known / 2 <= first.from_ <= known * 2
    assert all(s.protocol == "rendezvous" for s in machine.inter.segments if s.from_ >= first.from_)
    ends = [*(s.from_ for s in machine.inter.segments[1:]), np.inf]
    for s, end in zip(machine.inter.segments, ends, strict=True):
        assert s.protocol != "short" or end <= (64 << 10) + 1
        assert s.L.value >= 0
        assert s.L.interval is not None


@pytest.mark.parametrize(("name", "why"), TABLES["refused"].items())
def test_others_are_refused_for_the_right_reason(name: str, why: str) -> None:
    with pytest.raises(ImportFormatError, match=why):
        collected(paths([name]))


COLUMN = {"Latency": "Latency (us)", "Bandwidth": "Bandwidth (MB/s)"}


def rows_of(key: str) -> list[list[float]]:
    data: dict[str, list[list[float]]] = json.loads((FOLDER / "more.json").read_text())
    return next(rows for name, rows in data.items() if key in name)


@cache
def results(name: str) -> tuple[Imported, Transport]:
    if name in CLUSTERS:
        files, lib, fabric, _, take = CLUSTERS[name]
        return collected(paths(files), take=take)[0], transport(library(lib), fabric)
    keys, lib, fabric = MORE[name]
    text = ""
    for test, key in keys.items():
        table = "".join(f"{row[0]:<10d}{row[1]:>18.2f}\n" for row in rows_of(key))
        text += f"# OSU MPI {test} Test v5.8\n# Size          {COLUMN[test]}\n{table}"
    return read(text.encode(), name), transport(library(lib), fabric)


def half(imported: Imported, begin: int) -> Imported:
    """Every second size."""

    def part(curve: Curve | None) -> Curve | None:
        return None if curve is None else curve.only(curve.at[begin::2])

    o = imported.observations
    kept = replace(o, ping_pong=part(o.ping_pong), stream=part(o.stream), prtt_1=part(o.prtt_1))
    return replace(imported, observations=kept)


def made(imported: Imported, name: str, over: Transport) -> Fitted:
    """The machine of the messages alone, of a fixed day and seed."""
    observed, day = without_untouched(imported.observations, []), date(2026, 1, 1)
    return fitted(observed, imported.window, {}, name=name, seed=0, day=day, transport=over)


def in_window(machine: Machine, size: float) -> float:
    """Of a window of messages and its answer, a message's share."""
    s, n = machine.inter.segment(size), DEFAULT_WINDOW
    gap = s.g.value + (s.G_link or s.G).value * size
    return ((n - 1) * gap + one_way(machine, size) + one_way(machine, ANSWER)) / n


def begins(machine: Machine) -> tuple[float, float]:
    """The sizes between which a rendezvous begins."""
    first = next(s for s in machine.inter.segments if s.protocol == "rendezvous")
    return present(present(first.begins).interval)


@pytest.mark.thorough
def test_half_of_the_sizes_predict_the_other_half() -> None:
    """Nine in ten within 10 %; and the sizes between which a rendezvous begins overlap with those of all.

    Every second size tells no more: of the 219 ping-pongs between two known sizes 21 lie more than 10 % off
    the line between their neighbours, 25 off the power law: a protocol's step of a fifth is on neither.
    """
    off: dict[str, list[float]] = {"message": [], "stream": []}
    for name in [*CLUSTERS, *MORE]:
        whole, over = results(name)
        low, high = begins(made(whole, name, over).machine)
        for begin in (0, 1):
            machine = made(half(whole, begin), name, over).machine
            least, most = begins(machine)
            assert max(low, least) <= min(high, most), name
            o = half(whole, 1 - begin).observations
            checks = (("message", o.ping_pong, one_way, 1.0), ("message", o.prtt_1, one_way, 0.5),
                      ("stream", o.stream, in_window, 1.0))  # fmt: skip
            for kind, curve, predicted, share in checks:
                if curve is not None:
                    off[kind] += [predicted(machine, size) / (share * t) - 1 for size, t in curve.medians.items()]
    for kind, errors in off.items():
        assert np.mean(np.abs(errors) < 0.10) >= 0.9, kind


@pytest.mark.slow
def test_half_of_the_sizes_decide_as_all_do(monkeypatch: Patch) -> None:
    """Of the example halo: never the opposite, and undecided in two of the twelve at most."""
    halo, differ = workload.load("examples/halo3d.toml"), 0

    def part(begin: int | None, files: Sequence[Path], **how: Any) -> tuple[Imported, list[str], list[Path]]:
        made, notes, used = collected(files, **how)
        return made if begin is None else half(made, begin), notes, used

    for name in ("alaska-ib", "alps", "archer2", "hpc6a", "fugaku", "pinnacles"):
        files, lib, fabric, _, take = CLUSTERS[name]
        words = []
        for begin in (None, 0, 1):
            monkeypatch.setattr(to_machine, "collected", partial(part, begin))
            machine = from_files(paths(files), name=name, library=lib, fabric=fabric, take=take).machine
            words.append(predict(machine, halo, whole=()).advice.verdict)
        print(name, words)
        assert len({*words} - {"undecided"}) <= 1
        differ += sum(word != words[0] for word in words[1:])
    assert differ <= 3


@pytest.mark.parametrize("name", [*CLUSTERS, *MORE])
def test_a_machine_reproduces_its_own_data(name: str) -> None:
    """Within 10 % at 95 % of the points; Intel MPI's streams of up to 8 B scatter by as much."""
    whole, over = results(name)
    machine = made(whole, name, over).machine
    found = round_trip(machine, without_answers(whole.observations, whole.window)[0])
    assert len(found.misses) <= 0.05 * found.points or name == "alaska-impi"
    assert all(what == "a stream" for what, _, _ in found.misses) or name != "alaska-impi"


@pytest.mark.parametrize("profile", OWN)
def test_a_shipped_profile_reproduces_its_own_data_or_names_what_it_misses(profile: str) -> None:
    """Of hpc6a the medians of 28 pairs of nodes, which an import refuses: they are a profile's, not one pair's."""
    runs = [run for path in sorted(FOLDER.glob(OWN[profile])) if "bibw" not in path.name
            for run in runs_of(path.read_bytes(), str(path))[0]]  # fmt: skip
    kinds: dict[tuple[str, int], list[tuple[float, float]]] = {(run.kind, run.pairs): [] for run in runs}
    for run in runs:
        kinds[run.kind, run.pairs] += run.values
    curves = {kind: Curve.of([s for s, _ in rows], [[t] for _, t in rows]) for kind, rows in kinds.items() if rows}
    alone = Observations(ping_pong=curves["ping_pong", 1], stream=curves.get(("stream", 1)))
    pairs = {number: curve for (kind, number), curve in curves.items() if kind == "pair_rates"}
    found = round_trip(load(profile), without_answers(alone, DEFAULT_WINDOW)[0], pairs)
    head = Path(f"model/machine/profiles/{profile}.toml").read_text()
    assert len(found.misses) <= 0.05 * found.points or found.line in head.replace("\n# ", " ")


@pytest.mark.parametrize("name", [name for name in CLUSTERS if name.startswith("alaska")])
@pytest.mark.parametrize("which", ["16", "1_0"])
def test_many_pairs_are_predicted_from_the_fewest(name: str, which: str) -> None:
    """Windows of 64 messages of 8 and of 32 pairs, from latency, bandwidth and the 2 pairs of ``mbw_mr_4``."""
    (folder,), lib, fabric, _, _ = CLUSTERS[name]
    known = [FOLDER / folder / f"Osu_{test}.out" for test in ("latency", "bw", "mbw_mr_4")]
    machine = from_files(known, name=name, library=lib, fabric=fabric).machine
    ((pairs, rates),) = read((FOLDER / folder / f"Osu_mbw_mr_{which}.out").read_bytes()).pair_rates.items()
    off = []
    for size, rate in rates.medians.items():
        to = [[q + pairs] for q in range(pairs)] + [[] for _ in range(pairs)]
        fields = {"threads": 1, "partitions_per_thread": 64, "buffer": f"{64 * int(size)} B"}
        workload = Workload.model_validate(fields | {"pattern": "neighbours", "neighbour_list": to})
        done = simulate(
            machine, workload, BY_KEY["many"].into(64), grid=(2 * pairs,), neighbours=to, iterations=1,
            ranks_per_node=pairs,
        )  # fmt: skip
        time = done.time_s + one_way(machine, ANSWER)
        off.append(64 * pairs / time / rate - 1)
    assert np.median(np.abs(off)) < 0.15
