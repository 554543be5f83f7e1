"""Captured runs with records changed, still valid: no figure made of one contradicts another.

    python benchmarks/capture_identities.py run/ --count 4000

`run/` is a folder that `pready capture` wrote. Times, peers, bytes, kinds, threads and clocks of some records are
changed; what is read is then held against itself: no time is negative, an exchange is not longer than its step, its
parts are not longer than the whole, shares end at 100 %, no message of an exchange needs another one of it. A
contradiction ends the run with status 1.
"""

from __future__ import annotations

import argparse
import io
import math
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console, RenderableType

from pready.calibrate.capture import files
from pready.calibrate.capture.alignment import aligned
from pready.calibrate.capture.exchanges import groups
from pready.calibrate.capture.files import RECORD, SUFFIX, Run, numbers, parse_process
from pready.calibrate.capture.run_summary import summarise
from pready.calibrate.capture.step import Step, find
from pready.calibrate.capture.timeline import Timeline
from pready.calibrate.capture.workload_file import Writer
from pready.model.common.errors import PreadyError
from pready.model.workload.merging import merged
from pready.model.workload.workload import load
from pready.show.tables.capture import summary_view
from pready.show.tables.workload import step_view

ROUNDING = 1e-9


def changed(content: bytes, draw: random.Random) -> bytes:
    """A file with some records changed, each as the library could have written it."""
    out = bytearray(content)
    first = files._HEADER_BYTES + files.MOST_SITES * files._SITE.itemsize
    messages = numbers("send", "isend", "sendrecv", "irecv", "recv", "wait", "test", "barrier", "collective", "put")
    openmp = numbers(*files.OPENMP)
    ranks = int(np.frombuffer(content, files._HEADER, 1)["ranks"][0])
    every = draw.choice((1, 5, 50, 500))
    for at in range(first, len(out) - files._CHUNK_BYTES + 1, files._CHUNK_BYTES):
        rows = np.frombuffer(
            out, RECORD, (files._CHUNK_BYTES - files._CHUNK_HEAD) // RECORD.itemsize, at + files._CHUNK_HEAD
        )
        used = int(np.argmin(rows["kind"] != 0)) if (rows["kind"] == 0).any() else len(rows)
        for i in range(used):
            if draw.randrange(every):
                continue
            row = rows[i]
            by = int(draw.choice((1e3, 1e5, 1e7, 1e9)) * draw.random())
            if row["kind"] in openmp:  # a thread has one share at a time
                row["end"] = row["done"] = max(int(row["start"]), int(row["end"]) - by)
                continue
            match draw.randrange(7):
                case 0:
                    row["end"] += by
                case 1:
                    row["start"] = max(0, int(row["start"]) - by)
                case 2:
                    row["start"], row["end"] = row["start"] + by, row["end"] + by
                case 3 if row["kind"] in messages and row["who"] >= 0:
                    row["who"] = draw.randrange(ranks)
                case 4 if row["kind"] in messages:
                    row["what"] = draw.choice((0, 1, 8, int(row["what"]) * 3, 1 << 40))
                case 5 if row["kind"] in messages:
                    row["kind"] = draw.choice(messages)
                case 6:
                    row["done"] = -1
            if row["done"] >= 0:
                row["done"] = max(int(row["done"]), int(row["end"]))
    head = np.frombuffer(out, files._HEADER, 1)
    if draw.randrange(3) == 0:
        head["wall_ns"] += int(draw.gauss(0, 1e7))
    if draw.randrange(5) == 0:
        late = int(head["mpi_started_ns"][0]) + draw.randrange(10**8)
        head["mpi_started_ns"] = min(late, int(head["mpi_ended_ns"][0]) or late)
    return bytes(out)


def wrong(view: RenderableType) -> list[str]:
    """Figures in a table that cannot be."""
    out = io.StringIO()
    Console(file=out, width=80).print(view)
    return re.findall(r"(?:^| )-\d.*|\bnan\b|\binf\b", out.getvalue(), re.MULTILINE)


def contradictions(step: Step) -> list[str]:
    """Figures of a step that cannot all be true."""
    found = []
    values = {"step": step.step_s, "share": step.share, "waiting": step.waiting, "others": step.others_s,
              "modelled": step.modelled_s}  # fmt: skip
    for e in step.exchanges:
        each = {"in MPI": e.exchange_s, "computing": e.last_s, "least": e.times.min(), "waits": e.waiting_s}
        values |= {f"{e.name} {what}": float(v) for what, v in each.items()}
        if e.pattern.name != "neighbours" and min(e.pattern.faces) < 0:
            found.append(f"{e.name}: bytes {e.pattern.faces}")
    found += [f"{what} = {v}" for what, v in values.items() if not math.isfinite(v) or v < -ROUNDING]
    longest = step.step_s * (1 + ROUNDING)
    for e in step.exchanges:
        if max(e.exchange_s, e.last_s) > longest:
            found.append(f"{e.name}: {e.exchange_s} s in MPI, {e.last_s} s of computing in a step of {step.step_s} s")
    parts = sum(e.exchange_s + e.last_s for e in step.exchanges)
    if parts + step.others_s > longest:
        found.append(f"parts of {parts} s, {step.others_s} in a step of {step.step_s}")
    found += [f"{what} = {v}" for what, v in (("share", step.share), ("waiting", step.waiting)) if v > 1 + ROUNDING]
    return found


def shown(run: Run) -> list[str]:
    """What of a summary's figures cannot be true."""
    s = summarise(run)
    found = [f"{s.in_mpi_s} s in MPI of {s.run_s}"] if s.in_mpi_s > s.run_s * (1 + ROUNDING) else []
    found += [f"waiting = {s.waiting}"] if not 0 <= s.waiting <= 1 + ROUNDING else []
    return found + wrong(summary_view(s))


def entangled(run: Run) -> list[str]:
    """Exchanges of which a message needs another one of the same exchange, in most steps: sent as one message to each
    neighbour they would send data before these exist, or wait for each other for ever."""
    timelines = [Timeline(p) for p in run.ranks]
    made = aligned(run.ranks, [groups(timeline) for timeline in timelines])
    found = []
    for number, exchange in enumerate([] if made is None else made.exchanges, 1):
        steps = max(map(len, exchange))
        bad = 0
        for step in range(steps):
            of = {r: groups_[step] for r, groups_ in enumerate(exchange) if step < len(groups_)}
            sent = {(r, to, k) for r, g in of.items() for to, k in g.orders}
            bad += any((by, r, k) in sent for r, g in of.items() for by, k in g.needs)
        if bad > steps / 2:
            found.append(f"exchange {number} needs its own messages")
    return found


def check(contents: Sequence[bytes], folder: Path) -> tuple[list[str], bool]:
    """Contradictions, and whether the run was refused."""
    try:
        run = Run(Path("changed"), tuple(parse_process(c, Path(f"rank-{r}")) for r, c in enumerate(contents)))
        found = shown(run)
        step = find(run)
    except PreadyError:
        return [], True
    found += contradictions(step) + wrong(step_view(step)) + ([] if step.chain else entangled(run))
    file = folder / "w.toml"

    def write(name: str, data: bytes) -> None:
        (folder / name).write_bytes(data)

    writer = Writer("w", write, "trace", 0)
    file.write_text(writer.text(step, "w", ""))
    w = load(file)
    needs = {e.name for e in step.exchanges if e.depends}
    together = one[1] if (one := merged(w)) else []
    if len(together) == 2 and together[1] in needs:
        found.append(f"{together[1]} is advised in one message with what it needs")
    if w.captured is not None and w.captured.exchanges > step.step_s * 1.001:
        found.append(f"the file says {w.captured.exchanges} s of exchanges in a step of {step.step_s}")
    return found, False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("run", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    seeds = [[p.read_bytes() for p in sorted(folder.glob(f"rank-*{SUFFIX}"))] for folder in given.run]
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.count):
            if number and number % 500 == 0:
                print(f"{number} of {given.count} runs, {refused} refused", file=sys.stderr)
            draw = random.Random(f"{given.seed} {number}")
            contents = [changed(c, draw) if draw.randrange(2) else c for c in draw.choice(seeds)]
            found, no = check(contents, Path(folder))
            refused += no
            if found:
                print(f"case {number}, seed {given.seed}:\n" + "\n".join(found))
                return 1
    print(f"{given.count} runs, {refused} refused, no contradiction; seed {given.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
