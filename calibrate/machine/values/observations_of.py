"""From raw records to the plain arrays of a fit, and to values that need no fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.fit import Contended, Curve, Estimate, Observations, Train, lock_cost
from pready.calibrate.machine.values.intervals import SMALL
from pready.calibrate.measure.raw_file import Content, read
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.normal import student95

Record = Mapping[str, Any]


def centre(record: Record, scale: float = 1.0) -> Estimate:
    """The median of a record's repeats and its 95 % interval; where that is missing (too few repeats), their range."""
    low, high = record.get("low_s") or record["min_s"], record.get("high_s") or record["max_s"]
    median, low, high = (float(seconds) * scale for seconds in (record["median_s"], low, high))
    return Estimate(median, low, high).around()


@dataclass(frozen=True)
class TimedExchange:
    """One whole exchange: time from its start, and after its last partition was ready."""

    approach: str
    bytes: int
    threads: int
    theta: int
    delay_s: float
    total: Estimate
    after: Estimate
    ready: tuple[tuple[float, ...], ...]
    """When each user partition of a repeat was ready, a row per repeat; empty if there were too many to list."""
    round: int = 0  # which of the times that it was measured at


@dataclass(frozen=True)
class Probes:
    """Values read off the records directly; empty where there are none, as for imported files.

    `early_send`: does ``MPI_Pready`` send before the last partition is ready, in the steady state?
    `exposed_share`: by message size, the share of a transfer that is left when the receiver has
    computed meanwhile, 0 for full overlap.
    """

    early_send: bool | None = None
    exposed_share: Mapping[int, float] = field(default_factory=dict)
    taken_lock: Mapping[int, Estimate] = field(default_factory=dict)
    """By number of threads, from threads that issued at once while the receiver slept."""
    setup: Estimate | None = None  # the time that a small message saves if its request is set up before
    begin: Mapping[str, Estimate] = field(default_factory=dict)
    """Set-up costs by kind of object, in seconds; "registration": seconds per byte of a window."""
    copy_bandwidth: Mapping[str, Estimate] = field(default_factory=dict)
    exchanges: tuple[TimedExchange, ...] = ()
    rates: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """Messages per second of all threads together, by mechanism and threads."""


def environment(content: Content, key: str | None = None) -> tuple[str, Record]:
    """The one environment of a result file, or the one asked for. Raises PreadyError: none, several and none asked for,
    or one that is not there."""
    known = content.environments
    if key is not None and key in known:
        return key, known[key]
    if key is None and len(known) == 1:
        return next(iter(known.items()))
    listed = ", ".join(f"{k} ({v.get('launcher', '')})" for k, v in known.items()) or "none"
    raise PreadyError(f"environment = {key!r}", valid=f"one of: {listed}")


def observations(content: Content, key: str) -> Observations:
    """The fit's input; curves that were not measured are absent."""
    pings = _by(_select(content, "pingpong", key, mode="isend"), "bytes")
    rtts = _select(content, "prtt", key)
    one = _by([r for r in rtts if r["parameters"]["n"] == 1], "bytes")
    trains = [r for r in rtts if r["parameters"]["n"] > 1]
    plain = [r for r in trains if r["parameters"]["delay_s"] == 0]
    delayed = [r for r in trains if r["parameters"]["delay_s"] != 0]
    received = [r for r in _select(content, "receive", key) if r["median_s"] > 0]
    return Observations(
        ping_pong=_curve(pings) if pings else None,
        prtt_1=_curve(one) if one else None,
        prtt_n=_train(plain, one or pings),
        prtt_n_delay=_train(delayed, one or pings),
        receive_overhead=_curve(_by(received, "bytes")) if received else None,
    )


def probes(content: Content, key: str) -> Probes:
    """The values that need no fit."""
    early = _select(content, "early", key)
    cores = cores_per_rank(content.environments[key])
    copies = {c: _select(content, "memcpy", key, cache=c) for c in ("hot", "cold")}
    return Probes(
        # Early at all: a rendezvous that waits for progress does not make a library late, `progress` says that.
        early_send=_any(r["derived"]["early_steady"] for r in early),
        exposed_share=_exposed(_select(content, "overlap", key)),
        taken_lock={k: lock_cost(p) for k, p in sorted(contended(_select(content, "contention", key)).items())},
        setup=_setup(content, key),
        begin=_begin(_select(content, "begin", key)),
        copy_bandwidth={c: _bandwidth(found) for c, found in copies.items() if found},
        exchanges=tuple(_exchange(r) for r in _select(content, "approach", key) if "after" in r["also"]),
        rates=_rates(_select(content, "rate", key), cores),
    )


def _begin(records: list[dict[str, Any]]) -> dict[str, Estimate]:
    """The smallest objects of each kind; of windows, also the cost of a byte. All are at least 0."""
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for r in sorted(records, key=lambda r: int(r["parameters"]["bytes"])):
        by_kind[str(r["parameters"]["what"])].append(r)
    out = {kind: centre(found[0]).at_least_zero() for kind, found in by_kind.items()}
    windows = by_kind["window"]
    if len(windows) > 1:
        small, large = (centre(r) for r in (windows[0], windows[-1]))
        size = float(windows[-1]["parameters"]["bytes"] - windows[0]["parameters"]["bytes"])
        more, low, high = (large.value - small.value, large.low - small.high, large.high - small.low)
        out["registration"] = Estimate(more / size, low / size, high / size).at_least_zero()
    return out


def _setup(content: Content, key: str) -> Estimate | None:
    """By how much persistent ping-pongs are quicker than nonblocking ones of the same sizes."""
    modes = ("isend", "persistent")
    new, kept = (_by(_select(content, "pingpong", key, mode=mode), "bytes") for mode in modes)
    saved = [float(np.median(new[size]) - np.median(kept[size])) for size in new if size <= SMALL and size in kept]
    if len(saved) < 2:
        return None
    half = student95(len(saved) - 1) * float(np.std(saved, ddof=1)) / len(saved) ** 0.5
    mean = float(np.mean(saved))
    return Estimate(mean, mean - half, mean + half)


def _exchange(record: Record) -> TimedExchange:
    p = record["parameters"]
    total, after = (centre(record["also"][n]) for n in ("total", "after"))
    ready = tuple(tuple(row) for row in record.get("lists", {}).get("ready_s", ()))
    numbers = int(p["bytes"]), int(p["threads"]), int(p["theta"]), float(p["delay_s"])
    return TimedExchange(str(p["approach"]), *numbers, total, after, ready, int(p.get("round", 0)))


def load(path: Path) -> Content:
    """A raw result file; a missing or damaged one is an error of one line."""
    if not path.is_file():
        raise PreadyError("no such file", valid="a raw result file of 'pready calibrate'", source=str(path))
    return read(path)


def _select(content: Content, measurement: str, key: str, **parameters: object) -> list[dict[str, Any]]:
    return [
        r
        for r in content.select(measurement, key)
        if all(r["parameters"].get(name) == value for name, value in parameters.items())
    ]


def _by(records: Iterable[Record], parameter: str) -> dict[float, Array]:
    """Repeats in seconds by the values of one parameter."""
    found: dict[float, list[float]] = defaultdict(list)
    for r in records:
        found[float(r["parameters"][parameter])] += [ns * 1e-9 for ns in r["samples_ns"]]
    return {at: np.array(times) for at, times in sorted(found.items())}


def _curve(repeats: Mapping[float, Array]) -> Curve:
    # A derived time (less half a round trip) of a quick message can come out negative; such repeats say
    # nothing that a positive-time fit could use, and the rest still centres where the point does.
    kept = {at: times[times > 0] for at, times in repeats.items() if (times > 0).any()}
    return Curve.of(list(kept), list(kept.values()))


def _train(records: list[dict[str, Any]], single: Mapping[float, Array]) -> Train | None:
    """Trains of one length, if one message of such a size was timed, too."""
    if not any(float(r["parameters"]["bytes"]) in single for r in records):
        return None
    messages = int(records[0]["parameters"]["n"])
    same = [r for r in records if int(r["parameters"]["n"]) == messages]
    return Train.of(
        [float(r["parameters"]["bytes"]) for r in same],
        [np.array(r["samples_ns"]) * 1e-9 for r in same],
        messages,
        [float(r["derived"].get("delay_s", 0.0)) for r in same],
    )


def cores_per_rank(about: Record) -> int | None:
    """Cores that a rank has for its threads, from an environment record; None if it does not say."""
    return min(map(int, about["cores"])) if about.get("cores") else None


MOSTLY_AWAKE = 0.25
"""Share of samples in which rank 1 woke up too early, from which a point of contention does not count."""


def contended(records: Iterable[Record]) -> dict[int, list[Contended]]:
    """Points of contention by number of threads; the repeats of all rounds of a point together."""
    times: dict[tuple[int, int, int], list[Array]] = defaultdict(list)
    for r in records:
        if r["derived"]["peer_awake"] < MOSTLY_AWAKE:
            p = r["parameters"]
            point = (int(p["threads"]), int(p["bytes"]), int(p["messages"]))
            times[point].append(1e-9 * np.array([r["samples_ns"], r["also"]["alone"]["samples_ns"]]))
    out: dict[int, list[Contended]] = defaultdict(list)
    for (threads, _, messages), found in times.items():
        team, alone = np.concatenate(found, axis=1)
        excess = float(np.median(team - threads * alone))
        out[threads].append(Contended(threads, messages, float(np.median(team)), excess))
    return out


def _rates(records: Iterable[Record], cores: int | None) -> dict[str, dict[int, float]]:
    """Medians of teams whose threads have a core each: the rate of more shows the length of a time slice."""
    out: dict[str, dict[int, float]] = defaultdict(dict)
    for r in records:
        p = r["parameters"]
        if cores is None or p["threads"] <= cores:
            out[p["mechanism"]][int(p["threads"])] = float(r["derived"]["messages_per_s"])
    return out


def _bandwidth(records: list[dict[str, Any]]) -> Estimate:
    """Copy bandwidth of the size in the middle: neither call overhead nor one level of cache alone."""
    ordered = sorted(records, key=lambda r: int(r["parameters"]["bytes"]))
    r = ordered[len(ordered) // 2]
    size, time = float(r["parameters"]["bytes"]), centre(r)
    return Estimate(size / time.value, size / time.high, size / time.low)


def _any(flags: Iterable[float]) -> bool | None:
    found = list(flags)
    return any(found) if found else None


def _exposed(records: Iterable[Record]) -> dict[int, float]:
    """By message size, the share of a transfer that is left after a computation that could hide it."""
    left = ((r["parameters"]["bytes"], max(r["median_s"], 0.0) / r["derived"]["baseline_s"]) for r in records)
    return {int(size): float(share) for size, share in left}
