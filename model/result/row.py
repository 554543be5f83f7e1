"""From mean times to the row of a prediction: the one place that makes an `ApproachPrediction`.

Times are means over ranks and exchanges of what an exchange costs a rank after its own last partition is ready. Among
ranks that go on, this includes waiting for neighbours that are late, and for those that were late an iteration before:
with noise, η is closer to 1, as bulk and the approach wait for the same late threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from pready.model.approach.interfaces import Approach
from pready.model.equations import metrics
from pready.model.result.prediction import ApproachPrediction


@dataclass(frozen=True)
class Averages:
    """Means over ranks and exchanges of one way to send, in seconds of one exchange unless it says otherwise."""

    communication_s: float
    """From a rank's last ready partition to its end: T of Eq. 1."""
    iteration_s: float
    """Time of a whole iteration, all exchanges of its step included."""
    spread_s: float
    """From a rank's first ready partition to its last."""
    to_join_s: float
    """From a rank's last ready partition until its threads have met."""
    arrived_early: float
    """Share of the messages that have arrived when their sender's threads have met."""
    work_s: float
    """What a receiver that is consuming still has to work on when everything is there."""
    messages: int
    """Per rank and exchange."""
    late_s: float = 0.0
    """Of the communication, waiting for late neighbours."""


@dataclass(frozen=True)
class Terms:
    """What the rows of a table have in common."""

    buffer: float
    """Bytes per peer."""
    iterations: int
    """Iterations of a run, over which the set-up is spread."""
    barrier_s: float
    """For the threads to meet."""
    bulk_alone_s: float
    """Communication of one bulk exchange without spread of arrivals."""
    today: Averages
    """The baseline."""
    today_begin_s: float
    """Its set-up cost."""


def row(approach: Approach, of: Averages, calm_s: float, begin_s: float, terms: Terms) -> ApproachPrediction:
    """A prediction's row, the machine at its values: without intervals.

    Parameters
    ----------
    of
        The approach, on the same ranks and arrivals as the baseline.
    calm_s
        Its communication without spread of arrivals.
    begin_s
        Its set-up cost.
    """
    splits, barrier, now = approach.interface.splits, terms.barrier_s, terms.today
    time, eta = of.communication_s, float(metrics.eta(now.communication_s, of.communication_s))
    once, once_now = begin_s / terms.iterations, terms.today_begin_s / terms.iterations
    saved = float(metrics.speedup_percent(now.iteration_s + once_now, of.iteration_s + once))
    # temucin2022 3.1: one send from the join on, without the threads' barrier.
    t_pt2pt = terms.bulk_alone_s - barrier
    no_spread = calm_s - (0.0 if splits else barrier)
    after_join = max(time - barrier, 0.0)
    # From the first MPI_Pready on; a rank never ends before its threads have joined.
    t_part = time + of.spread_s if splits else time - barrier
    before_join = of.spread_s + of.to_join_s if splits else 0.0
    return ApproachPrediction(
        approach=approach,
        messages=of.messages,
        time_s=time,
        time_low_s=time,
        time_high_s=time,
        eta=eta,
        eta_low=eta,
        eta_high=eta,
        iteration_s=of.iteration_s,
        speedup_percent=saved,
        speedup_low_percent=saved,
        speedup_high_percent=saved,
        overhead=float(metrics.overhead(no_spread, t_pt2pt)),
        perceived_bandwidth_bytes_per_s=float(metrics.perceived_bandwidth(terms.buffer, time)),
        availability=float(metrics.application_availability(after_join, t_pt2pt)),
        early_bird_percent=float(metrics.early_bird_percent(before_join, t_part)),
        arrived_early_percent=100 * of.arrived_early,
        begin_s=begin_s,
        begin_per_iteration_s=once,
        needs=approach.interface.needs,
        work_left_s=of.work_s,
        late_s=of.late_s,
    )
