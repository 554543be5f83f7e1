"""A captured run of a ring of ranks, made by hand: each time in it is known to the microsecond."""

import numpy as np
from made import Row, capture_file, share

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
