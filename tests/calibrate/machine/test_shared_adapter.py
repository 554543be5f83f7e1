"""How one adapter serves several ranks of a node: known adapters come back, and what is not known is said."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import out
from given import Capsys, Request
from machines import ideal
from mpi_home import home_of
from present import present
from real_mpi import LIBRARIES, benchmark
from rig import Rig
from tables import table_of

from pready.calibrate.fit import Estimate
from pready.calibrate.machine.values import shared_adapter as values
from pready.calibrate.machine.values.shared_adapter import LARGE, LARGE_WINDOW, SMALL, Served, of_served, points
from pready.calibrate.measure.catalogue import PAIRS
from pready.calibrate.measure.raw_file import Point, Records, read
from pready.calibrate.measure.session import measure
from pready.cli import main
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.model.machine.writing import dumps

US = 1e-6
LINK = 1e9  # bytes per second
NO_GAP = "no rate of messages that only the adapter limits was measured: 17 to 200 million a second are usual"


def message_s(pairs: int, size: int, *, own: float, gap: float, rank: float = LINK) -> float:
    """Of k ranks, each `own` apart and at `rank` bytes per second, on an adapter of LINK."""
    return max(gap, own / pairs) if size == SMALL else size / min(LINK, pairs * rank)


def served(most: int, shared: Sequence[int] = (), **truth: float) -> list[Served]:
    """Times within 2 %; `shared`: so many ranks share cores."""
    times = [(k, size, message_s(k, size, **truth)) for k in values.counts(most) for size in (SMALL, LARGE)]
    return [Served(k, size, Estimate(t, 0.98 * t, 1.02 * t), k in shared) for k, size, t in times]


@pytest.mark.parametrize(
    ("most", "shared", "own", "gap", "share", "apart_ns"), table_of("calibrate/adapters")["served"]
)
def test_the_adapter_that_was_measured_is_the_machines(
    most: int, shared: list[int], own: float, gap: float, share: float, apart_ns: list[float]
) -> None:
    made = of_served(served(most, shared, own=own * US, gap=gap * US, rank=share * LINK))
    ranks, seen = f"{most} ranks of a node at once, messages of", len(apart_ns) == 1
    low, apart, high = (factor * apart_ns[0] for factor in (0.98, 1, 1.02)) if seen else apart_ns
    gaps = [1e-9 * ns for ns in (low, apart, high)]
    for value, said in ((made.rate, [1e9 / 1.02, 1e9, 1e9 / 0.98]), (made.gap, gaps)):
        first, last = present(value.interval)
        assert [first, value.value, last] == pytest.approx(said)
    one = {1.0: "1 GB/s", 0.5: "500 MB/s"}[share]
    assert made.rate.why == f"{ranks} 256 KiB; one alone moves {one}"
    assert (made.rate.source, made.gap.source) == ("measured", "measured" if seen else "assumed")
    assert made.gap.why == (f"{ranks} 8 B: their rate no longer grows with the ranks" if seen else NO_GAP)


@pytest.mark.parametrize("sizes", [(SMALL, LARGE), (SMALL,), (LARGE,)])
def test_one_rank_alone_is_too_little(sizes: tuple[int, ...]) -> None:
    for alone in (True, False):
        few = [s for s in served(8, own=US, gap=US) if (s.pairs == 1) == alone or s.bytes not in sizes]
        said = f"^{len(few)} points of ranks of a node; valid: one rank and several, 8 B and 262144 B$"
        with pytest.raises(PreadyError, match=said):
            of_served(few)
    asked = [(p.get("round"), p.get("pairs"), p.get("bytes"), p.get("window")) for p in points(3)]
    assert asked == [(r, k, *what) for r in (0, 1) for k in (1, 3, 2) for what in ((262144, 16), (8, 256))]


@pytest.mark.parametrize("hosts", [["a", "b"], ["a", "b", "a", "b"], ["a"] * 4, ["a", "a", "b", "c"]])
def test_ranks_that_lie_otherwise_are_refused(hosts: list[str]) -> None:
    said = (
        'valid: 4 ranks that fill two nodes one after the other, such as "srun -N 2 -n 4 --ntasks-per-node 2 -m block"'
    )
    with pytest.raises(PreadyError, match=f"^--ranks-per-node 2 with ranks on {', '.join(hosts)}; {said}$"):
        values.check_places(hosts, 2)
    values.check_places(["a", "a", "b", "b"], 2)


def written_to(path: Path, most: int, cores: int, **truth: float) -> Path:
    """A raw file of ranks that are served as told."""
    with Records(path) as out:
        out.add_environment("e", {"library": "test", "launcher": "paper", "hosts": ["a", "b"]})
        for point in points(most):
            p: dict[str, Any] = dict(point.parameters)
            sharing = p["round"] * max(p["pairs"] - cores, 0)  # of the second round only
            time = message_s(p["pairs"], p["bytes"], **truth) * p["pairs"] * p["window"] * (1 + 0.01 * p["round"])
            time *= 1 + sharing * (p["bytes"] == SMALL)
            spread = {"median_s": time, "low_s": 0.99 * time, "high_s": 1.01 * time, "samples_ns": [time * 1e9]}
            derived = {"cores": cores, "sharing": sharing}
            out.add_point(point, "e", {"measurement": PAIRS, "parameters": p, "derived": derived, **spread})
    return path


def test_from_raw_file_to_machine_file(tmp_path: Path, capsys: Capsys) -> None:
    raw, file = written_to(tmp_path / "m.ranks.jsonl", 8, 7, own=4 * US, gap=1.5 * US), tmp_path / "m.toml"
    file.write_text(dumps(ideal(g=4 * US)))
    assert main(["calibrate", "--ranks-per-node", "8", "-o", str(file)]) == 0
    of = "of a node's adapter: {}, measured: 8 ranks of a node at once, messages of {}"
    link = of.format("995 MB/s (980 MB/s to 1.01 GB/s)", "256 KiB; one alone moves 995 MB/s")
    gap = of.format("1.51 us (1.49 us to 1.53 us)", "8 B: their rate no longer grows with the ranks")
    said = [f"bandwidth {link}", f"gap {gap}"]
    told = [*said, "new: adapter = a table"]
    assert capsys.readouterr().err.splitlines() == [*(f"  {line}" for line in told), f"wrote {file}: [adapter]"]
    made = present(load(str(file)).adapter)
    # Of two rounds, the second 1 % slower, each within 1 %.
    assert [made.gap.value, *present(made.gap.interval)] == pytest.approx([1.5075 * US, 1.485 * US, 1.53015 * US])
    assert [made.rate.value, *present(made.rate.interval)] == pytest.approx([LINK / 1.005, LINK / 1.0201, LINK / 0.99])
    assert main(["calibrate", "--ranks-per-node", "8", "-o", str(file)]) == 0  # again: the same
    assert file.read_text().count("[adapter]") == 1
    assert out(capsys, "calibrate", "report", raw).splitlines() == said
    known = values.adapter(raw)
    with Records(raw) as records:
        records.add_environment("f", {"library": "another"})
        records.add_point(points(1)[0], "f", next(iter(records.content.points.values()))["record"])
    with pytest.raises(PreadyError, match=r"2 environments measured ranks of a node; valid: one: e, f$"):
        values.adapter(raw)
    assert values.adapter(raw, "e") == known


@pytest.mark.thorough
@pytest.mark.alone
@pytest.mark.needs("ip", "root")
@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_two_ranks_of_a_node_share_its_port(library: str, tmp_path: Path, request: Request) -> None:
    home = home_of(library)
    built = benchmark(home, request)
    few = {"min_repeats": 6, "max_repeats": 6, "budget_s": 1.0}
    wanted = [
        *(Point.of(PAIRS, pairs=k, bytes=LARGE, window=LARGE_WINDOW, **few) for k in (1, 2)),
        Point.of(PAIRS, pairs=2, bytes=SMALL, window=8, **few),
        Point.of(PAIRS, pairs=3, bytes=SMALL),
    ]
    with Rig(500) as rig:
        how = rig.mpich(home, per_node=2) if library == "mpich" else rig.openmpi(home, per_node=2)
        outcome = measure(wanted, how, tmp_path / "raw.jsonl", 120.0, built=built)
    (reason,) = outcome.failures.values()
    assert reason.startswith("pairs = 3 of 4 ranks, or bytes * window above 1 GiB:")
    large = [r for r in read(tmp_path / "raw.jsonl").select(PAIRS) if r["parameters"]["bytes"] == LARGE]
    for record in large:
        # Both ranks' bytes pass the one port of their node: a busy machine can only make it slower.
        moved = record["parameters"]["pairs"] * LARGE * LARGE_WINDOW
        assert record["min_s"] > (moved - rig.bucket_bytes) / rig.bytes_per_s
