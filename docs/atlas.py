"""The atlas: where each way to send pays, over the shipped machines. ``python docs/atlas.py`` makes it in ten minutes.

It writes ``atlas.csv``, a line per machine, library, threads, spread and buffer; ``atlas.md``, the page; and
``atlas.svg``, its picture.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from pready.model.advice.predict import predict, runs_of, with_library
from pready.model.advice.savings import drawn_row
from pready.model.approach.interfaces import OVERLAPPED
from pready.model.common.parallel import all_cores
from pready.model.machine.machine import Machine, load, profiles
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.result.verdict import LIKELY
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.show.figures.style import styled, subplots, svg

HERE = Path(__file__).parent
DATA, PAGE, PICTURE = HERE / "atlas.csv", HERE / "atlas.md", HERE / "atlas.svg"
OTHERS = (("alps", "cray-mpich"), ("hpc3", "mvapich-4"), ("meluxina", "intel-mpi"))
"""Libraries that no shipped machine has for its own, on a machine of a fabric that they run over."""
BUFFERS, THREADS, SPREADS = ("16 KiB", "128 KiB", "1 MiB", "8 MiB"), (8, 32), ("1 %", "4 %", "16 %")
WAYS = {
    "partitioned": "MPI_Psend",
    "early": "if it sent early",
    "persistent": "persistent requests",
    "threads": "messages by threads",
    "rma": "RMA",
    "boundary": "boundary first",
    "bound": "any library",
}
INTERIOR = "80 %"
"""Of the computing, where the boundary is computed first."""
Point = tuple[str, str, int, str, str]
"""Machine, library (empty: its own), threads, spread, buffer."""
Row = dict[str, str]


def points() -> list[Point]:
    """All that are predicted."""
    sites = [*((name, "") for name in sorted(profiles())), *OTHERS]
    return [(*site, n, spread, buffer) for site in sites for n in THREADS for spread in SPREADS for buffer in BUFFERS]


def workload(threads: int, spread: str, buffer: str) -> Workload:
    """Six neighbours, 1 ms of computing, to each a message per thread."""
    fields: dict[str, Any] = {
        "format": 2,
        "threads": threads,
        "buffer": buffer,
        "pattern": "halo3d",
        "grid": [4, 2, 2],
        "thread_grid": "shared",
        "iterations": 1000,
        "transport_partitions": [1, threads],
        "compute": {"time": "1 ms"},
        "arrivals": {"model": "normal by thread", "spread": spread},
    }
    return validated(Workload, fields, "atlas")


def row_of(point: Point) -> Row:
    """What each way saves at a point, in percent of an iteration, and the probability that it saves 1 %."""
    name, library, threads, spread, buffer = point
    machine, what = load(name), workload(threads, spread, buffer)
    made = predict(machine, what, library=library or None, sizes=False)
    used, _ = with_library(machine, library or None)
    out = {"machine": made.machine, "library": made.library, "fabric": used.fabric or "unknown"}
    out |= {"threads": str(threads), "spread": spread, "buffer": buffer}
    for way in WAYS:
        row = of_interior(used, what) if way == "boundary" else best(made, way)
        out[f"{way}_percent"] = "" if row is None else f"{row.speedup_percent:.1f}"
        out[f"{way}_probability"] = "" if row is None or row.probability is None else f"{row.probability:.2f}"
    rma = best(made, "rma")
    out["rma_unmeasured"] = "" if rma is None else rma.unmeasured
    return out | {"request_unmeasured": "set-up of a request" * (used.requests is None or used.requests.setup is None)}


def of_interior(machine: Machine, workload: Workload) -> ApproachPrediction:
    """Boundary first by one message, with an idle thread that tests where that saves more."""
    runs, _ = runs_of(machine, workload.changed(interior=INTERIOR))
    return max((drawn_row(runs, way.into(1)) for way in OVERLAPPED[:2]), key=lambda row: row.speedup_percent)


def best(made: Prediction, way: str) -> ApproachPrediction | None:
    """The row of a way that saves most."""
    asked = made.advice.partitioned
    if way == "bound":
        return made.advice.bound
    if way == "partitioned":
        return None if asked is None else asked.row
    if way == "early":
        return None if asked is None else asked.if_early or asked.row

    def belongs(row: ApproachPrediction) -> bool:
        interface = row.approach.interface
        if way == "rma":
            return interface.one_sided
        return row.key.startswith("many") if way == "threads" else row.key == "persistent"

    some = [r for r in made.approaches if r.available and belongs(r)]
    some = [r for r in some if r.probability is not None] or some
    return max(some, key=lambda r: r.speedup_percent, default=None)


def text(rows: Sequence[Row]) -> str:
    """The rows as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read() -> list[Row]:
    """The rows that are kept."""
    return list(csv.DictReader(DATA.read_text(encoding="utf-8").splitlines()))


def pays(row: Row, way: str) -> bool:
    """Is the verdict on a way "port"?"""
    return float(row[f"{way}_probability"] or 0) >= LIKELY


def count(rows: Iterable[Row], way: str) -> int:
    """Points at which a way pays."""
    return sum(pays(row, way) for row in rows)


def never(row: Row) -> bool:
    """Is the verdict on what no library exceeds "do not port"?"""
    return float(row["bound_probability"]) <= 1 - LIKELY


def only_parts(row: Row) -> bool:
    """Do messages by threads or early partitions pay, and the boundary first does not?"""
    return (pays(row, "threads") or pays(row, "early")) and not pays(row, "boundary")


def sites(rows: Sequence[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """The rows of each library, fabric and machine."""
    out: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        out.setdefault((row["library"], row["fabric"], row["machine"]), []).append(row)
    return dict(sorted(out.items()))


def sentences(rows: Sequence[Row]) -> list[str]:
    """What the picture shows, and what nobody has measured."""
    each = sites(rows)
    late = [row for row in rows if row["early_percent"] != row["partitioned_percent"]]
    shown = [key for key, some in each.items() if count(some, "partitioned")]
    gained = [float(row["early_percent"]) for row in late if pays(row, "early")]
    rma, request = ({row["machine"] for row in rows if row[f"{name}_unmeasured"]} for name in ("rma", "request"))
    machines = {row["machine"] for row in rows}
    return [
        f"Today `MPI_Psend` pays at {count(rows, 'partitioned')} of {len(rows)} points, on {len(shown)} of {len(each)} "
        f"pairs of library and machine; messages by threads pay at {count(rows, 'threads')}, persistent requests at "
        f"{count(rows, 'persistent')}.",
        f"Where the library sends nothing early, or has no such calls, it would pay at {count(late, 'early')} of "
        f"{len(late)} points if it sent early, and save {median(gained):.1f} % of an iteration there in the median.",
        f"A library could save 1 % at {count(rows, 'bound')} points and none could at {sum(map(never, rows))}; at the "
        f"others that rests on what is not known. If {INTERIOR} of the computing needs no neighbour, the boundary "
        f"first by one message pays at {count(rows, 'boundary')}; of those at which messages by threads or early "
        f"partitions pay, it does not at {sum(map(only_parts, rows))}.",
        f"RMA would pay at {count(rows, 'rma')} points, but on {len(rma)} of {len(machines)} machines nobody has "
        f"measured what its calls cost, nor on {len(request)} what persistent requests save.",
    ]


def page(rows: Sequence[Row]) -> str:
    """The page in Markdown."""
    each = sites(rows)
    out = ["# Atlas", "", *(line for said in sentences(rows) for line in (said, ""))]
    out += [
        f"![Probability that each way saves 1 % of an iteration, by library, fabric and machine]({PICTURE.name})",
        "",
        f"Predictions for a halo of six neighbours on 4 × 2 × 2 ranks, 1 ms of computing an iteration, "
        f"{THREADS[0]} and {THREADS[1]} threads with a message each to every neighbour, spreads of "
        f"{', '.join(SPREADS)} between threads, {', '.join(BUFFERS)} per neighbour: {len(rows) // len(each)} points "
        "for each row. White: no such calls, or no cost known that it would save. Yours is another: `pready predict`.",
        "",
        "Points at which each way pays, with a probability of 0.8 or more, and what the library's users would save in "
        f"the median if it sent early; the boundary first where {INTERIOR} is interior; where no library saves 1 %, "
        "and where only messages by threads or early partitions pay:",
        "",
        "| library | fabric | machine | " + " | ".join(WAYS.values()) + " | saved if early | never | only parts |",
        "| --- | --- | --- |" + " ---: |" * (len(WAYS) + 3),
    ]
    for (library, fabric, machine), some in each.items():
        early = [float(row["early_percent"]) for row in some if row["early_percent"]]
        cells = [library, fabric, machine, *(str(count(some, way)) for way in WAYS), f"{median(early):.1f} %"]
        cells += [str(sum(map(of, some))) for of in (never, only_parts)]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join([*out, "", "Made by `python docs/atlas.py`; every number is in [`atlas.csv`](atlas.csv).", ""])


def draw(rows: Sequence[Row]) -> str:
    """The picture as SVG: a panel for each way, a line for each site, a column for each point."""

    @styled
    def drawn() -> Any:
        each = sites(rows)
        figure, axes = subplots(1, len(WAYS), size=(11, 1.8 + 0.22 * len(each)))
        for n, (way, title) in enumerate(WAYS.items()):
            values = [[float(row[f"{way}_probability"] or "nan") for row in some] for some in each.values()]
            image = axes[n].imshow(values, vmin=0, vmax=1, aspect="auto", cmap="cividis")
            axes[n].set_title(title, fontsize=8)
            per = len(BUFFERS)
            axes[n].set_xticks([i * per - 0.5 for i in range(len(THREADS) * len(SPREADS))], [])
            names = [f"{t} × {s.removesuffix(' %')}" for t in THREADS for s in SPREADS]
            places = [i * per + per / 2 - 0.5 for i in range(len(names))]
            axes[n].set_xticks(places, names, minor=True, rotation=90, fontsize=6)
            axes[n].set_yticks(range(len(each)), [f"{a}, {c}" for a, _, c in each] if n == 0 else [], fontsize=7)
        figure.colorbar(image, ax=axes, label="probability that it saves 1 %", shrink=0.6)
        figure.supxlabel(f"threads × spread in %, in each {' '.join(BUFFERS)} per neighbour", fontsize=8)
        return figure

    return svg(drawn(), alone=True)


if __name__ == "__main__":
    if "--draw" not in sys.argv:  # else from the numbers that are kept
        with ProcessPoolExecutor(all_cores()) as pool:
            DATA.write_text(text(list(pool.map(row_of, points(), chunksize=4))), encoding="utf-8")
    kept = read()
    PAGE.write_text(page(kept), encoding="utf-8")
    PICTURE.write_text(draw(kept), encoding="utf-8")
