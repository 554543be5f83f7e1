"""Arrival models: shapes, seeds, distributions with negative controls, files."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.model.engine.plan import drawn_times as draw
from pready.model.equations import gain
from pready.model.toml.reading import validated
from pready.model.workload import draws
from pready.model.workload.arrivals import Gaussian
from pready.model.workload.draws import deterministic, read_times
from pready.model.workload.workload import Workload

MODELS: list[dict[str, Any]] = table_of("model/workloads")["arrivals"]

DRAWN = [{"model": model} for model in ("uniform", "normal by thread", "normal by partition")]
SPREADS: list[dict[str, Any]] = [{"model": "laggard", "late": "thread"}, *DRAWN]


@pytest.mark.parametrize(
    ("theta", "spread"), [(1, "1 %"), (1, "20 %"), (4, "5 %"), (4, "12 %"), (16, "1 %"), (16, "6 %")]
)
@pytest.mark.parametrize("model", SPREADS, ids=lambda m: m["model"])
def test_spread_is_one_thing(model: dict[str, Any], theta: int, spread: str) -> None:
    """The relative standard deviation of a thread's time, whatever the model and however many partitions it has.

    So far as no partition's time would be negative: a normal distribution is cut there.
    """
    w = workload(model | {"spread": spread}, partitions_per_thread=theta)
    threads = draw(w, 4000, seed=1).reshape(-1, 8, theta)[:, :, -1]
    wanted = float(spread.removesuffix(" %")) / 100
    # 32 000 times: a standard deviation is known to 0.4 % if they are normal, one of eight's better than to 1 %.
    assert threads.std() / threads.mean() == pytest.approx(wanted, rel=0.02)
    if model["model"] != "laggard":  # there, the others take the compute time, and one takes longer
        assert threads.mean() == pytest.approx(1e-3, rel=4 * wanted / np.sqrt(threads.size))


def test_the_papers_parameters_are_not_one_thing() -> None:
    """The negative control: the papers' parameters of one value spread a thread's time by six different amounts."""
    seen = []
    for theta in (1, 4):
        for model, name in (("uniform", "up_to"), ("normal by thread", "spread"), ("normal by partition", "epsilon")):
            w = workload({"model": model, name: 0.05}, partitions_per_thread=theta)
            threads = draw(w, 2000, seed=1).reshape(-1, 8, theta)[:, :, -1]
            seen.append(float(threads.std() / threads.mean()))
    # U[t, 1.05 t]: 0.05 / √12 / 1.025; Eq. 7: 0.05 / 2 per partition, over √θ of them.
    assert seen == pytest.approx([0.01408, 0.05, 0.025, 0.01408, 0.05, 0.0125], rel=0.03)


def test_spread_outside_what_a_model_can() -> None:
    # A uniform time is √3 deviations off at most. Of five, one late by D: a mean of t + D / 5, a deviation of 2 D / 5.
    for model, last, spread, said in (
        ("uniform", "57.73 %", 1 / np.sqrt(3), "spread = 57.735 % of a uniform time .* less than 57.7 %"),
        ("laggard", "199.9 %", "200 %", "spread = 200 % of one late thread in 5; valid: less than 200 %"),
    ):
        workload({"model": model, "spread": last}, threads=5, buffer="20 B")
        with pytest.raises(PreadyError, match=said):
            workload({"model": model, "spread": spread}, threads=5, buffer="20 B")
    with pytest.raises(PreadyError, match="less than 0 %"):
        workload({"model": "laggard", "spread": "1 %"}, threads=1)


def workload(arrivals: dict[str, Any], folder: str = ".", **fields: Any) -> Workload:
    data = {"threads": 8, "partitions_per_thread": 4, "buffer": "1 MiB", "compute": {"time": "1 ms"}}
    return validated(Workload, data | {"arrivals": arrivals, "folder": folder} | fields, "test")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_shape_seed_and_sign(model: dict[str, Any]) -> None:
    w = workload(model)
    times = draw(w, 50, seed=3)
    assert times.shape == (50, 32)
    assert (times >= 0).all()
    assert np.isfinite(times).all()
    assert np.array_equal(times, draw(w, 50, seed=3))
    assert deterministic(w) == (times == times[0]).all()
    assert np.array_equal(times[20:], draw(w, 30, seed=3, first=20))
    if model["model"] not in ("none", "laggard"):
        assert not np.array_equal(times, draw(w, 50, seed=4))
        assert not np.array_equal(times, draw(w, 50, seed=3, rank=1))


def test_laggard_is_the_last_partition() -> None:
    # gillis2023 4.3: D = gamma S_part = 100 us/MB × 32768 B = 3.2768 us
    times = draw(workload({"model": "laggard", "delay_rate": "100 us/MB"}), 1, seed=0)[0]
    assert times[:-1] == pytest.approx(1e-3)
    assert times[-1] - 1e-3 == pytest.approx(3.2768e-6)


def test_laggard_thread_takes_all_its_partitions_along() -> None:
    from scipy import stats

    times = draw(workload({"model": "laggard", "late_by": 0.04, "late": "thread"}), 400, seed=0).reshape(400, 8, 4)
    late = times > 1.01e-3
    assert (late.sum(axis=(1, 2)) == 4).all()
    assert (late.all(axis=2).sum(axis=1) == 1).all()
    who = late.all(axis=2).argmax(axis=1)
    assert stats.chisquare(np.bincount(who, minlength=8)).pvalue > 1e-3


@pytest.mark.parametrize(
    ("arrivals", "is_of", "is_not_of"),
    [  # temucin2022 3.3: [comp, comp + noise]; the last is the negative control
        ({"model": "uniform", "up_to": 0.1}, ("uniform", 1e-3, 1e-4), ("uniform", 1e-3, 1.02e-4)),
        ({"model": "normal by thread", "spread": 0.1}, ("norm", 1e-3, 1e-4), ("norm", 1e-3, 1.05e-4)),
    ],
)
def test_noise(arrivals: dict[str, Any], is_of: tuple[str, float, float], is_not_of: tuple[str, float, float]) -> None:
    from scipy import stats

    times = draw(workload(arrivals, partitions_per_thread=1), 4000, seed=1).ravel()
    for (name, *given), right in ((is_of, True), (is_not_of, False)):
        assert (stats.kstest(times, getattr(stats, name)(*given).cdf).pvalue > 1e-3) == right


def test_wide_normal_is_truncated_not_folded() -> None:
    from scipy import stats

    for model in ("normal by thread", "normal by partition"):
        times = draw(workload({"model": model, "spread": "200 %"}, partitions_per_thread=1), 2000, seed=5)
        assert times.min() > 0
        assert stats.kstest(times.ravel(), stats.truncnorm(-0.5, np.inf, 1e-3, 2e-3).cdf).pvalue > 1e-3


def test_in_turn_spreads_along_the_thread() -> None:
    times = draw(workload({"model": "normal by thread", "sd": "0 s", "partitions": "in turn"}), 1, seed=0).reshape(8, 4)
    assert times[0] == pytest.approx([0.25e-3, 0.5e-3, 0.75e-3, 1e-3])


def test_gaussian_is_appendix_a() -> None:
    # The k-th partition after the sum of k draws of N(mu S, sigma mu S): mean k mu S, sd sqrt(k) sigma mu S.
    w = workload({"model": "normal by partition", "epsilon": 0.04, "delta": 0.16})
    times = draw(w, 8000, seed=1).reshape(-1, 4)
    mean, sigma = 0.25e-3, 0.1
    assert Gaussian.model_validate(w.arrivals.model_dump()).parameters(4) == (0.04, 0.16)
    assert Gaussian(model="normal by partition", spread=0.05).parameters(4) == pytest.approx((0.2, 0))  # of four, half
    for k in range(1, 5):
        assert times[:, k - 1].mean() == pytest.approx(k * mean, rel=2e-3)
        assert times[:, k - 1].std() == pytest.approx(np.sqrt(k) * sigma * mean, rel=2e-2)


def test_gaussian_delay_follows_eq8() -> None:
    # Eq. 8 estimates first and last by one standard deviation each: mu S ((theta - 1) + sigma (sqrt(theta) + 1)).
    w = workload({"model": "normal by partition", "epsilon": 0.04, "delta": 0.0}, threads=2)
    simulated = np.ptp(draw(w, 4000, seed=1), axis=1).mean()
    mu = w.thread_time / (w.partition_size * w.partitions_per_thread)
    paper = float(gain.delay(mu, 4, 0.04, 0.0, w.partition_size))
    assert simulated == pytest.approx(paper, rel=0.02)


def test_kde_follows_the_measured_times(tmp_path: Path) -> None:
    from scipy import stats

    rng = np.random.default_rng(0)
    measured = np.concatenate([rng.normal(500, 5, 300), rng.normal(700, 5, 300)])  # bimodal, as marts2024 Fig. 4
    np.savetxt(tmp_path / "threads.csv", measured.reshape(-1, 4), delimiter=",", header="thread times")
    w = workload({"model": "kde", "file": "threads.csv", "unit": "us"}, str(tmp_path), partitions_per_thread=1)
    times = draw(w, 1000, seed=2).ravel()
    assert times.mean() == pytest.approx(600e-6, rel=0.02)
    assert (np.abs(times - 600e-6) > 40e-6).mean() > 0.7  # two modes, not one
    expected = stats.gaussian_kde(measured * 1e-6)
    assert draws.scott(measured * 1e-6) == pytest.approx(np.sqrt(expected.covariance[0, 0]))
    assert times.std() == pytest.approx(np.sqrt(expected.covariance[0, 0] + np.var(measured * 1e-6)), rel=0.05)


def test_kernels_that_reach_below_zero_are_cut_each_by_itself(tmp_path: Path) -> None:
    from scipy import stats

    (tmp_path / "some.csv").write_text("1\n3\n")
    w = workload({"model": "kde", "file": "some.csv", "unit": "s"}, str(tmp_path), partitions_per_thread=1)
    width = np.sqrt(2) * 2 ** (-1 / 5)  # of a standard deviation, by Scott's rule
    of = [stats.truncnorm(-centre / width, np.inf, centre, width) for centre in (1, 3)]
    assert stats.kstest(draw(w, 1000, seed=2).ravel(), lambda x: (of[0].cdf(x) + of[1].cdf(x)) / 2).pvalue > 1e-3


def npy(what: Any) -> bytes:
    np.save(file := BytesIO(), what)
    return file.getvalue()


def test_trace_is_replayed(tmp_path: Path) -> None:
    rows = np.arange(24.0).reshape(3, 8)
    np.save(tmp_path / "trace.npy", rows)
    w = workload({"model": "trace", "file": "trace.npy", "unit": "ms"}, str(tmp_path))
    times = draw(w, 4, seed=9)
    assert times[:, 0] == pytest.approx([0, 8e-3, 16e-3, 0])
    assert times[0].reshape(8, 4)[5] == pytest.approx(5e-3)
    assert draw(w, 1, seed=9, rank=1)[0, 0] == pytest.approx(8e-3)  # another rank starts elsewhere


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("wrong.csv", b"1,2,3\n", "has 3 columns; valid: 8 (one per thread) or 32 (one per partition)"),
        ("words.csv", b"1,two\n", "line 1 is not numbers"),
        ("latin.csv", "1,µ\n".encode("latin-1"), "byte 2 is not UTF-8"),
        ("negative.csv", b"1 2 3 4 5 6 7 -8\n", "row 1, column 8 is -8"),
        ("empty.csv", b"# nothing\n", "has shape (0, 0); valid: (iterations, threads)"),
        ("broken.npy", b"\x93NUMPYxx", "is not an array"),
        ("words.npy", npy("words"), "holds <U5; valid: numbers"),
        ("cube.npy", npy([[[1.0]]]), "has shape (1, 1, 1); valid: (iterations, threads)"),
        ("ragged.csv", b"1,2\n# of two\n1\n", "line 3 has 1 values, the first has 2; valid: as many in every line"),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    w = workload({"model": "trace", "file": name, "unit": "s"}, str(tmp_path))
    with pytest.raises(PreadyError) as caught:
        draw(w, 1, seed=0)
    assert said in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Bytes of memory for each of the file: of text, a word and a float for each number.
    monkeypatch.setattr(draws, "read_bytes", lambda _path, _largest, times: str(times).encode())
    assert [read_times(name, "s")[0, 0] for name in ("is.npy", "is.csv")] == [16, 64]
    monkeypatch.undo()
    with pytest.raises(PreadyError, match="no such file"):
        read_times(str(tmp_path / "absent.csv"), "s")
    with pytest.raises(PreadyError, match="is a directory"):
        read_times(str(tmp_path), "s")


def test_a_density_needs_two_times(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("1\n")
    with pytest.raises(PreadyError, match="at least 2"):
        draw(workload({"model": "kde", "file": "some.csv", "unit": "s"}, str(tmp_path)), 1, seed=0)
    (tmp_path / "alike.csv").write_text("3\n3\n")
    assert (draw(workload({"model": "kde", "file": "alike.csv", "unit": "s"}, str(tmp_path)), 5, seed=0) == 3).all()
