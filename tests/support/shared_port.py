"""A port that several flows share, evenly: processor sharing, exactly, event by event.

A flow is what goes to one destination, or what comes from one sender; its jobs are served in order. Jobs come to the
port a gap apart. Every flow that has a job at hand is served at the same rate, and no capacity is left idle meanwhile.
"""

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Job:
    """A message at a port."""

    at: float
    """From when on it may come."""
    flow: int
    service: float
    """Seconds of the port alone."""
    gap: float = 0.0
    """Those until the next job may come."""
    begun: float = math.nan
    end: float = math.nan


def share(jobs: Sequence[Job], free: float = -math.inf) -> float:
    """Fill in when each job begins and ends, given in the order in which they come, at a port that is busy until
    `free`; returns when the last ends."""
    comes, latest = list[float](), -math.inf
    for job in jobs:
        comes.append(max(job.at, latest))
        latest = comes[-1] + job.gap
    now, coming = free, deque(zip(comes, jobs, strict=True))
    flows = defaultdict[int, deque[Job]](deque)
    left = dict[int, float]()  # by flow: what its job at hand still takes

    def begin(flow: int) -> None:
        if flows[flow]:
            job = flows[flow][0]
            job.begun, left[flow] = now, job.service

    while coming or left:
        until = coming[0][0] if coming else math.inf
        if left:
            flow = min(left, key=lambda f: left[f])
            end = now + left[flow] * len(left)
            served = left[flow] if end <= until else max(0.0, until - now) / len(left)
            left = {f: rest - served for f, rest in left.items()}
            now = min(end, max(now, until))
            if end <= until:
                del left[flow]
                flows[flow].popleft().end = now
                begin(flow)
                continue
        now = max(now, until)
        _, job = coming.popleft()
        flows[job.flow].append(job)
        if len(flows[job.flow]) == 1:
            begin(job.flow)
    return now
