"""Two captured runs made by hand: what the port saved of each exchange is known to the microsecond."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import out, refused
from made import Row, capture_file, share
from programs import Mpi, each_library
from tables import table_of

from pready.calibrate.capture.files import Run, parse_process
from pready.calibrate.capture.step import Step, find
from pready.cli import main
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import PART, Approach
from pready.model.common.errors import PreadyError
from pready.model.common.normal import student95
from pready.model.machine import machine as machines
from pready.model.workload import workload
from pready.show.tables.ported import _why
from pready.validate.ported import Promise, blocks_of, compare, finding, promised, saved
from pready.validate.prove.judgement import Saving

mpi = each_library

US = 1000
STEPS, RANKS = 21, 4
SIZE = 1 << 20


def files(
    how: str, after_us: int, *, size: int = SIZE, seed: int = 1, noise_us: float = 1.0, second: str = ""
) -> list[bytes]:
    """A ring of ranks; two threads finish 1000 and 1200 us after a step begins, and `after_us` later all is there.

    `how`: "bulk" sends after the region, so do "start_send" and "put"; "partitioned" starts before it and marks both
    halves within; "many" sends both halves within it. `second`: how a second exchange of a quarter of the bytes is
    sent, from another place after another region, as long after it; empty: there is none.
    """
    rng = np.random.default_rng(seed)
    made = []
    for rank in range(RANKS):
        rows: dict[int, list[Row]] = {0: [], 1: []}
        at, peers = 100, ((rank + 1) % RANKS, (rank - 1) % RANKS)
        number = 0
        for _ in range(STEPS):
            for place, way, bytes_ in ((1, how, size), *([(2, second, size // 4)] if second else [])):
                took = round(max(1, after_us + rng.normal(0, noise_us)) * US)
                at = exchange(rows, at, number, peers, place, way, bytes_, took)
                number += 1
        for mine in rows.values():
            mine.sort()
        made.append(capture_file(list(rows.items()), rank=rank, ranks=RANKS))
    return made


def exchange(
    rows: dict[int, list[Row]], at: int, number: int, peers: tuple[int, int], place: int, how: str, size: int, took: int
) -> int:
    """A region at that place and what is sent of it; when all is there, in ns."""
    site = 2 + place
    if how == "partitioned":
        for peer in peers:
            rows[0].append((at, at + 10, "pstart_recv", site, peer, size))
            rows[0].append((at + 20, at + 30, "pstart_send", site, peer, size))
            at += 40
    ready = at + 1200 * US
    rows[0].append((at, ready + 10, "region", place, number, 2))
    for thread, finish in ((0, at + 1000 * US), (1, ready)):
        rows[thread].append((at + 5, finish, "share", place, number, share(thread)))
        for peer in peers:
            if how == "partitioned":
                rows[thread].append((finish - 500, finish - 400, "pready", site, peer, size // 2))
            elif how == "many":
                rows[thread].append((finish - 500, finish - 400, "isend", site, peer, size // 2))
    after = {"bulk": "isend", "start_send": "start_send", "put": "put"}
    for peer in peers if how in after else ():
        rows[0].append((ready + 20, ready + 30, after[how], site, peer, size))
    sends = 2 if how in after else 4  # halves; or two buffers with their receives
    rows[0].append((ready + 50, ready + took, "unlock" if how == "put" else "wait", 0, -4, sends))
    return ready + took + 10


def step(how: str, after_us: int, **kwargs: float | str) -> Step:
    made = files(how, after_us, **kwargs)  # type: ignore[arg-type]
    return find(Run(Path("made"), tuple(parse_process(data, Path(f"rank-{rank}")) for rank, data in enumerate(made))))


@pytest.mark.parametrize(("how", "today"), table_of("calibrate/ports")["ways"])
def test_time_counts_from_the_last_thread(how: str, today: str) -> None:
    """However it is sent: from the end of the region in which its last part is ready, not from MPI_Start."""
    (exchange,) = (found := step(how, 300)).exchanges
    assert len(exchange.after_s) == STEPS - 1  # without the first
    assert exchange.after_s.mean() == pytest.approx(300e-6, abs=2e-6)
    assert found.times_s.mean() == pytest.approx(1500e-6, abs=2e-6)
    assert exchange.exchange_s == pytest.approx(300e-6, abs=2e-6)
    assert exchange.today == found.today == today
    assert exchange.early == (how in ("partitioned", "many"))
    assert exchange.partitions == (2 if how == "partitioned" else 0)
    assert not exchange.overlapped
    assert (found.threads, exchange.threads) == (2, 2)
    assert np.allclose(exchange.times[5:], [1000e-6, 1200e-6], atol=1e-6)


def test_saved_of_an_iteration() -> None:
    """300 us of 1500 us become 100 us: 200 / 1500 = 13.3 %, all of it in the exchange."""
    c = compare(step("bulk", 300), step("partitioned", 100, seed=2))
    assert c.saving.value == pytest.approx(200 / 1500, abs=2e-3)
    assert c.saving.low < 200 / 1500 < c.saving.high
    (exchange,) = c.exchanges
    assert exchange.saving.value == pytest.approx(200 / 1500, abs=2e-3)
    assert abs(c.computing_s) < 2e-6
    assert c.unmatched == c.notes == ()
    assert (c.finding, c.promise) == (None, None)


def test_each_of_two_exchanges() -> None:
    """One is ported, one is not: 200 us of a step of 3 ms are saved in the first, and promised of it alone."""
    before, after = step("bulk", 300, second="bulk"), step("partitioned", 100, second="bulk", seed=2)
    assert [(e.early, e.overlapped) for e in after.exchanges] == [(True, False), (False, False)]
    whole, each = promised(before, after, machines.load("niagara"), library="openmpi-persist")
    assert list(each) == [before.exchanges[0].name]
    assert whole.approach.name == "each as advised"
    assert whole.saving == pytest.approx(each[before.exchanges[0].name].saving, abs=5e-3)
    c = compare(before, after, (whole, each))
    first, second = c.exchanges
    assert (first.promise is not None, second.promise, c.notes) == (True, None, ())
    assert first.before_s - first.after_s == pytest.approx(200e-6, abs=3e-6)
    assert first.saving.value == pytest.approx(200 / 3000, abs=3e-3)


def test_a_second_run_that_is_not_ported_is_named() -> None:
    c = compare(step("bulk", 300), step("bulk", 300, seed=2))
    assert c.saving.low < 0 < c.saving.high
    assert "nothing is ported there" in c.notes[0]


def test_interval_of_two_runs_covers() -> None:
    """Of 400 pairs of runs with a known difference, the 95 % interval covers it in 95 % of them, or more."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        before, after = (blocks_of(rng.normal(mean, 0.1, 60)) for mean in (1.0, 0.9))
        s = saved(before, after, 1.0)
        hits += s.low < 0.1 < s.high
    assert 0.92 <= hits / 400 <= 1


def test_the_interval_of_runs_of_unlike_length() -> None:
    """Variances of the means are 0.08 / 3 / 4 and 0.02 / 2 / 3, together 0.1^2; of two degrees of freedom."""
    s = saved(np.array([1.0, 1.2, 0.8, 1.0]), np.array([0.5, 0.6, 0.4]), 2.0)
    half = student95(2) * 0.05
    assert (s.value, s.low, s.high, s.deviation) == pytest.approx((0.25, 0.25 - half, 0.25 + half, 0.05 * 3**0.5))
    assert s.rounds == 3
    assert blocks_of(np.arange(25.0)).tolist() == [1, 4, 7, 10, 13, 15.5, 17.5, 19.5, 21.5, 23.5]
    assert blocks_of(np.arange(3.0)).tolist() == [0, 1, 2]


def test_too_few_steps_have_no_interval() -> None:
    s = saved(np.array([1.0, 1.0]), np.array([0.5, 0.5]), 1.0)
    assert (s.value, s.low, s.high) == (0.5, -np.inf, np.inf)
    assert finding(0.5, s) == "cannot be told"


@pytest.mark.parametrize(("promise", "low", "high", "said"), table_of("calibrate/ports")["findings"])
def test_kept_is_half_of_it(promise: float, low: float, high: float, said: str) -> None:
    assert finding(promise, Saving((low + high) / 2, low, high, 10, 0.01)) == said


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs as files."""
    made = {"bulk": ("bulk", 300), "part": ("partitioned", 100), "slow": ("partitioned", 300), "many": ("many", 100)}
    out = {}
    for name, (how, after) in made.items():
        out[name] = tmp_path_factory.mktemp(name)
        for rank, data in enumerate(files(how, after, seed=len(out))):
            (out[name] / f"rank-{rank:06d}.capture").write_bytes(data)
    return out


def test_the_command_says_what_was_kept(folders: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["workload", "--compare", str(folders["bulk"]), str(folders["part"])]
    assert out(capsys, *words).startswith("It pays: the port saves 13.3 % of an iteration (13.")
    said = out(capsys, *words, "--machine", "niagara", "--library", "openmpi-persist")
    assert said.split(":")[0] in ("Kept", "Not kept", "Cannot be told", "Nothing was promised")
    assert "promised" in said
    assert out(capsys, *words[:3], folders["slow"]).startswith("It does not pay: ")


def test_promises_are_what_predict_says(folders: dict[str, Path], tmp_path: Path) -> None:
    """The same workload file, the same approach: the same saving."""
    before, after = step("bulk", 300), step("partitioned", 100)
    niagara = machines.load("niagara")
    whole, each = promised(before, after, niagara, library="openmpi-persist")
    assert main(["workload", str(folders["bulk"]), "-o", str(tmp_path / "b.toml")]) == 0
    prediction = predict(niagara, workload.load(tmp_path / "b.toml"), library="openmpi-persist")
    row = next(p for p in prediction.approaches if p.key == "part" and p.transport_partitions == 2)
    assert whole.saving == pytest.approx(row.speedup_percent / 100, abs=2e-3)
    assert whole.before_s == pytest.approx(prediction.bulk.time_s, rel=1e-2)
    assert each[before.exchanges[0].name] == whole


def test_kept_or_not_on_the_promise() -> None:
    """Negative control: of one promise, a run that does as predicted keeps it, one that saves nothing does not."""
    before, niagara = step("bulk", 300), machines.load("niagara")
    many = step("many", 100)
    whole, each = promised(before, many, niagara, "many:2:2")
    assert whole.saving > 0.01
    as_told = 300 - round(whole.saving * 1500)
    assert compare(before, step("many", as_told, seed=3), (whole, each)).finding == "kept"
    assert compare(before, step("many", 300, seed=3), (whole, each)).finding == "not kept"
    noisy = step("many", as_told, seed=3, noise_us=400)
    assert compare(before, noisy, (whole, each)).finding == "cannot be told"


@pytest.mark.parametrize(("marked", "sent"), [(4, 4), (3, 2)], ids=["two a thread", "not as many a thread"])
def test_as_many_partitions_as_the_second_run_marks(marked: int, sent: int) -> None:
    after = step("partitioned", 100)
    after = replace(after, exchanges=(replace(after.exchanges[0], partitions=marked),))
    whole, _ = promised(step("bulk", 300), after, machines.load("niagara"), library="openmpi-persist")
    assert whole.approach == Approach(PART, sent)


def test_the_exchange_is_named_of_which_most_is_missing() -> None:
    """Of two that were promised as much, the one that costs, not the one that saves a little."""
    whole = compare(step("bulk", 300), step("partitioned", 300))
    promise = Promise(Approach(PART, 2), 0.3, 0.3, 0.3, 1e-3, 5e-4)
    saves, costs = (
        replace(whole.exchanges[0], name=name, promise=promise, saving=Saving(value, value, value, 10, 0.0))
        for name, value in (("saves", 0.03), ("costs", -0.04))
    )
    for exchanges in ((saves, costs), (costs, saves)):
        assert any("Most is missing in costs:" in line for line in _why(replace(whole, exchanges=exchanges)))


def test_sends_of_threads_need_a_word(folders: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["workload", "--compare", str(folders["bulk"]), str(folders["many"]), "--machine", "niagara"]
    assert "valid: --approach KEY:TRANSPORTS:VCIS, such as --approach many:2:1" in refused(capsys, *words)
    assert main([*words, "--approach", "many:2:2"]) == 0


def test_bytes_match_where_names_do_not() -> None:
    """Of one exchange each, under other names; other sizes are not the same exchange."""
    before, after = step("bulk", 300), step("partitioned", 100)
    renamed = replace(after, exchanges=(replace(after.exchanges[0], name="another"),))
    found = compare(before, renamed)
    assert ([e.name for e in found.exchanges], found.unmatched) == ([f"{before.exchanges[0].name} → another"], ())
    # a name counts more than bytes: what has as many is another exchange
    both = replace(after, exchanges=(*renamed.exchanges, *step("partitioned", 100, size=SIZE // 2).exchanges))
    assert compare(before, both).unmatched == ("another (after)",)
    other = replace(before.exchanges[0], name="left out")
    assert compare(replace(before, exchanges=(*before.exchanges, other)), after).unmatched == ("left out (before)",)
    small = step("partitioned", 100, size=SIZE // 2)
    small = replace(small, exchanges=(replace(small.exchanges[0], name="another"),))
    with pytest.raises(Exception, match=r"common: .*, 1 MiB\) before the port, another .*, 512 KiB\) after it"):
        compare(before, small)


def test_runs_that_cannot_be_compared_say_why() -> None:
    before, after = step("bulk", 300), step("partitioned", 100)
    assert compare(before, replace(after, threads=4)).notes == ("2 threads before the port, 4 after it",)
    with pytest.raises(PreadyError, match="4 ranks before the port and 3 after it; valid: as many in both"):
        compare(before, replace(after, ranks=3))
    many = step("many", 100)
    nameless = replace(many, exchanges=(replace(many.exchanges[0], name=""),))
    with pytest.raises(PreadyError, match=r"^the second run sends 2 messages per neighbour: whether each thread waits"):
        promised(before, nameless, machines.load("niagara"))
    with pytest.raises(PreadyError, match="emulated has no partitioned calls; valid: --library, that of the second"):
        promised(before, after, machines.load("niagara"), library="emulated")


def test_errors_are_a_line(folders: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    part = str(folders["part"])
    for words, expected in (
        ([str(folders["bulk"]), part, "--library", "mpich-release"], "without --machine"),
        ([part, str(folders["bulk"]), "--machine", "niagara"], "no exchange of the second run is sent while"),
    ):
        assert expected in refused(capsys, "workload", "--compare", *words)
    assert "--machine without --compare" in refused(capsys, "workload", part, "--machine", "niagara")


@pytest.mark.thorough
@pytest.mark.alone
def test_a_real_program_before_and_after(mpi: Mpi, tmp_path: Path) -> None:
    """One program in both forms, with one seed: the same exchange, and the threads' times come back from both."""
    words = "7 2 2 1 0 60000 60000 60 0 0 20 3 2000 laggard 0.5"
    found = {}
    for how in ("isend", "ported"):
        done, run = mpi.captured(4, [mpi.stencil(), *words.split(), how, str(tmp_path / how)], tmp_path / f"run-{how}")
        assert (done.returncode, done.stderr) == (0, "")
        assert run is not None
        found[how] = find(run)
    before, after = found["isend"], found["ported"]
    c = compare(before, after)
    (exchange,), (one,), (other,) = c.exchanges, before.exchanges, after.exchanges
    assert (c.unmatched, c.notes) == ((), ())
    assert (one.early, one.partitions, other.early, other.partitions) == (False, 0, True, 3)
    for mine, how in ((one, "isend"), (other, "ported")):
        own = np.concatenate([np.loadtxt(tmp_path / f"{how}.{rank}")[1:] for rank in range(4)]) * 1e-6
        late, own_late = (np.median(t.max(axis=1) - t.min(axis=1)) for t in (mine.times, own))
        assert abs(late - own_late) <= max(0.1 * own_late, 100e-6)
        assert len(mine.after_s) == 19
    assert 0 < exchange.after_s < after.step_s - 2e-3  # without the 2 ms in which threads compute
