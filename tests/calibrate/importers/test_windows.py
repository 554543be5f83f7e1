"""Windows of messages with one answer: the gap is recovered, and so is the time of the window."""

import pytest
from present import present
from results_of_suites import read as parse

from pready.calibrate.fit.observations import DEFAULT_WINDOW, Curve, Observations
from pready.calibrate.fit.windows import without_answers
from pready.calibrate.importers.benchmarks import together

SIZES = [1 << k for k in range(20)]
LATENCY, GAP, BYTE = 2e-6, 0.1e-6, 1e-10


def one_way(size: float) -> float:
    return LATENCY + BYTE * size


def gap(size: float) -> float:
    return GAP + BYTE * size


def each(size: float, window: int) -> float:
    """A message's share of a window: the last of `window` messages arrives, then 4 bytes go back."""
    return ((window - 1) * gap(size) + one_way(size) + one_way(4)) / window


def observed(window: int) -> Observations:
    return Observations(
        ping_pong=Curve.of(SIZES, [one_way(s) for s in SIZES]), stream=Curve.of(SIZES, [each(s, window) for s in SIZES])
    )


def stream_of(found: Observations) -> list[float]:
    return [float(t[0]) for t in present(found.stream).repeats]


@pytest.mark.parametrize("window", [2, 16, 64, 1024])
def test_the_gap_is_recovered(window: int) -> None:
    made = observed(window)
    found, note = without_answers(made, window)
    assert stream_of(found) == pytest.approx([gap(s) for s in SIZES])
    assert f"windows of {window} messages" in note
    assert found.ping_pong is made.ping_pong


@pytest.mark.parametrize(
    ("made", "window", "said"),
    [
        (observed(64), 0, ""),
        (observed(64), 1, ""),
        (Observations(stream=observed(64).stream), 64, "no ping-pong"),
        (
            Observations(ping_pong=Curve.of(SIZES, [*map(one_way, SIZES[:-1]), 1.0]), stream=observed(64).stream),
            64,
            "other nodes",
        ),
    ],
    ids=["no answers", "an answer to each", "no ping-pong", "a window no longer than a message"],
)
def test_otherwise_nothing_is_taken_out_and_that_is_said(made: Observations, window: int, said: str) -> None:
    found, note = without_answers(made, window)
    assert found is made
    assert said in note
    assert bool(said) == bool(note)


def printed(test: str, column: str, rows: list[tuple[int, float]], said: str = "") -> bytes:
    lines = "".join(f"{s} {v:.6f}\n" for s, v in rows)
    return f"# OSU MPI {test} Test v5.6.2\n{said}# Size {column}\n{lines}".encode()


def test_osu_says_the_window_or_has_the_default() -> None:
    latency = parse(printed("Latency", "Latency (us)", [(s, 1e6 * one_way(s)) for s in SIZES]))
    bandwidth = parse(printed("Bandwidth", "Bandwidth (MB/s)", [(s, s / each(s, 64) / 1e6) for s in SIZES]))
    assert (latency.window, bandwidth.window) == (0, DEFAULT_WINDOW)
    both = together([*latency.runs, *bandwidth.runs])
    found, _ = without_answers(both.observations, both.window)
    assert stream_of(found) == pytest.approx([gap(s) for s in SIZES], rel=1e-3)
    pair = "".join(f"{s} {s / each(s, 16) / 1e6:.6f} {1 / each(s, 16):.2f}\n" for s in SIZES)
    head = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n# [ pairs: 1 ] [ window size: 16 ]\n"
    rates = together([*latency.runs, *parse(f"{head}# Size MB/s Messages/s\n{pair}".encode()).runs])
    found, _ = without_answers(rates.observations, rates.window)
    assert stream_of(found) == pytest.approx([gap(s) for s in SIZES], rel=1e-3)
