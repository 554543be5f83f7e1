"""What a command prints of figures made by hand: each in its place, with its unit and in words."""

import io
import re
from types import MappingProxyType
from types import SimpleNamespace as Of
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pytest
from made_row import point, row
from rich.console import Console, RenderableType
from rich.text import Text
from tables import table_of

from pready.calibrate.capture.run_summary import RegionSummary, RunSummary
from pready.calibrate.capture.step import Exchange, Step
from pready.calibrate.doctor.findings import Finding
from pready.model.advice.explanation import Wait as Explained
from pready.model.advice.explanation import Way
from pready.model.approach.interfaces import BULK, BY_KEY, EACH, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.approach.library_profile import Fact
from pready.model.common.units import SI, Time
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import Barrier
from pready.model.toml.provenance import Value
from pready.model.workload.workload import load
from pready.show.tables.capture import summary_view
from pready.show.tables.doctor import diagnosis_view
from pready.show.tables.explanation import markdown, view
from pready.show.tables.library import libraries_view, library_view
from pready.show.tables.machine import machine_view, machines_view
from pready.show.tables.prediction import ways_table
from pready.show.tables.proof import html, proof_view
from pready.show.tables.proof_metrics import LINE, metric_lines
from pready.show.tables.simulation import simulation_view
from pready.show.tables.sst import residuals_view
from pready.show.tables.validation import agreement_view, claims_view
from pready.show.tables.whatif import decision, table_view
from pready.show.tables.workload import step_view
from pready.sst.ping_pong import Residual
from pready.validate.claims.result import ClaimResult
from pready.validate.sst import Agreement, Limit
from pready.whatif.table import Table

MANY: Any = Approach(BY_KEY["many"], 4, 2)
ANY: Any = None


def what_if(rows: Any, varied: list[str], notes: Any = ()) -> RenderableType:
    """Rows of: buffer, way, saving, its probability; what is saved by MPI_Psend, and if it were early; more."""
    made = []
    for size, key, saves, chance, psend, early, more in rows:
        row: dict[str, Any] = {"available": True, "transport_partitions": 4, "vcis": 2}
        row |= {"partitioned_speedup_percent": psend or None, "if_early_speedup_percent": early or None}
        row["partitioned_verdict"] = "port" if psend > 1 else "do not port"
        pays = [[low, None if high == np.inf else high] for low, high in more.pop("pays", ())]
        row["pays_bytes"] = None if key == "each" else pays
        made.append(point(size, "mpipcl", key, saves, chance) | row | more)
    return table_view(Table(tuple(varied), made, tuple(notes)))


def simulation(saves: float, begin_s: float = 0.0, key: str = "many", interrupted: bool = False) -> RenderableType:
    """Two iterations of 6 ranks, the second three times as long; the way's mean is 0.8 ms, bulk's 1 ms."""

    def run(approach: Approach, *times: float) -> Any:
        mean, late, nic = (np.array([t, 3 * t]) for t in times)
        ends = {"first_end_s": np.array([1e-3, 3e-3]), "last_end_s": np.array([1.4e-3, 3.5e-3]), "wall_s": 90.0}
        own = {"messages": 1000, "cores": 9} if approach is BULK else {"messages": 1400, "cores": 2 - interrupted}
        causes = {"nic": nic, "late_neighbours": late}
        return Of(approach=approach, mean_s=mean, causes_s=causes, grid=(2, 1, 3), iterations=2, seed=3, **ends, **own)

    ends = {f"speedup{end}_percent": saves for end in ("", "_low", "_high")}
    row = Of(approach=MANY, vcis=2, eta=1.25, begin_s=begin_s, **ends)
    of, bulk = MANY if key == "many" else Approach(EACH), Of(iteration_s=1e-3, begin_per_iteration_s=1e-4)
    rows: Any = [(bulk, run(BULK, 5e-4, 2e-4, 1e-6)), (row, run(of, 4e-4, 1e-4, 2e-6))]
    what: Any = Of(name="w", pattern="halo3d")
    on: Any = Of(name="m")
    return simulation_view(what, on, rows, interrupted=interrupted)


def diagnosis(findings: Any) -> RenderableType:
    of: Any = Of(profile="mpich-release@4.3", seconds=12.4, findings=[Finding(*f) for f in findings])
    return diagnosis_view(of)


def ping_pong(residuals: Any) -> RenderableType:
    return residuals_view([Residual(*r) for r in residuals], "m")


def step(exchanges: Any, notes: Any = (), chain: bool = False) -> RenderableType:
    """Of 8 ms; in each exchange threads compute 1 ms, and the last one 1.2 ms."""
    made = []
    for name, takes_s, messages, more in exchanges:
        pattern = more.pop("pattern", "pt2pt")
        own = {"faces": (2048, 1024), "edges": (), "corner": 0, "lists": (), "to_a_rank": (0, 0)}
        own["said_whole"] = f"{pattern} on 2 ranks"
        at: Any = Of(name=pattern, **own)
        times = np.array([[1e-3, 1.2e-3]] * 2)
        made.append(Exchange(name, at, times, takes_s, messages=messages, routine=name.partition(":")[0], **more))
    of = Step(tuple(made), 16, 4, 2, 100, 8e-3, 0.5, tuple(notes), chain=ANY if not chain else MANY)
    return step_view(of)


def captured(regions: int, notes: int) -> RenderableType:
    some = tuple(RegionSummary(f"r{n}", 4, 8, 4e-2, 2e-2, 0.05 * n, tasks=n == 1) for n in range(regions))
    said = tuple(f"note {n}" for n in range(notes))
    return summary_view(RunSummary(2, 1, 0.2, 0.05, 12, 2.0**20, 1, some, said))


def values() -> RenderableType:
    one, two = SI(1e-6), SI(2e-6)
    of: Any = [
        ("barrier", Barrier(threads=(1, 8), time=(one, two), interval=0.6, source="measured", why="w")),
        ("assumed", Barrier(threads=(1, 8), time=(one, two), source="assumed", why="x")),
        ("exact", Barrier(threads=(1, 8), time=(one, two), source="measured", why="y")),
        ("flush", SizeCurve(sizes=(SI(8),), time=(one,), source="measured", why="z")),
        ("put", SizeCurve(sizes=(SI(8), SI(1024)), time=(one, two), interval=0.75, source="assumed", why="v")),
        ("share", Of(value=0.5, interval=None, source="assumed", why="t")),
        ("L", Value[Time](value=one, interval=(SI(9e-7), SI(1.1e-6)), source="literature", why="u")),
    ]
    told = {"name": "M", "description": "a machine", "created_by": "me", "created": "2026-11-20"}
    return machine_view(cast("Any", Of(values=lambda: of, **told)))


def machines(rows: Any) -> RenderableType:
    """Name, fabric, bandwidth in B/s and latency in us, of which half is on the wire; sources of its values."""

    def machine(fabric: str, bandwidth: float, us: float, sources: list[str]) -> Any:
        o, wire = Of(value=us * 1e-7), Of(value=us * 5e-7)
        of = {"inter": Of(segments=[Of(o_s=o, L=wire, o_r=o)]), "matching": Of(base=Of(value=us * 3e-7))}
        values = [("x", Of(source=source)) for source in sources]
        told = {"library": Of(name="l"), "description": f"of {bandwidth:g}", "values": lambda: values}
        return Of(fabric=fabric or None, bandwidth=bandwidth, **of, **told)

    return machines_view({name: machine(*of) for name, *of in rows})


def libraries(rows: Any) -> RenderableType:
    return libraries_view([LibraryProfile(why="", **row) for row in rows])


def library(facts: Any = (), **fields: Any) -> RenderableType:
    """Over a fabric the library's own row goes before its family's."""

    def over(name: str, rendezvous: Any, answers: Any, puts: Any = None) -> Any:
        low, value, high = rendezvous
        ends = Of(value=float(value), interval=(float(low), float(high)) if high else None)
        return Of(name=name, rendezvous=ends, receiver=Of(value=answers), puts=puts and Of(value=puts))

    known = {
        ("MPICH", "roce"): over("A", (4096, 8192, 16384), "thread", "deferred"),
        ("any", "aries"): over("C", (1, 1, 1), "thread"),
    }
    known |= {("l", "tcp"): over("B", (0, 1024, 0), "on-call"), ("MPICH", "tcp"): over("D", (1, 1, 1), "thread")}
    known |= {("MPICH", "opa"): over("E", (512, 512, 512), "hardware", "adapter")}
    with patch("pready.show.tables.library.KNOWN", known):
        some = tuple(Fact(**f) for f in facts)
        return library_view(LibraryProfile("l", "a title", why="it is", facts=some, **fields))


def agreement(rejected: bool, failed: Any = MappingProxyType({})) -> RenderableType:
    times = (1e-3, 1.25e-3, 0.25, "late"), (2e-6, 1e-6, -0.5, "small")
    rows: Any = (
        Of(scene=Of(id=f"run {n}"), sst=Of(time=a), model=Of(time=b), off=off, cause=why, independent="link" * n)
        for n, (a, b, off, why) in enumerate(times)
    )
    checks = Limit("halos", 0.09, 0.12, 7, "in step"), Limit("sweeps", 0.2, 0.1, 3), Limit("none", np.nan, 0.05, 0)
    return agreement_view(Agreement("M", "SST 1", tuple(rows), checks, rejected, dict(failed)), 5)


def proof(contradicted: bool, exchanges: bool = False, metrics: bool = False) -> RenderableType:
    """Bulk and 4 messages on 2 VCIs, which is advised: 20 % promised and 10 % measured of 2 ms."""

    def figures(iteration_s: float, time_s: float, eta: float, saving: Any) -> Any:
        ends = {"time_low_s": time_s / 2, "time_high_s": 2 * time_s, "eta_low": eta / 2, "eta_high": 2 * eta}
        return Of(iteration_s=iteration_s, time_s=time_s, eta=eta, saving=saving, **ends)

    low, high = {"predicted_s": 1e-4, "measured_s": 2e-4}, {"measured_low_s": 1e-4, "measured_high_s": 3e-4}
    parts, cases = [Of(name="u", pattern="halo3d"), Of(name="v", pattern="pt2pt")][: 1 + exchanges], []
    for a, t, why in ((BULK, 2e-3, ""), (MANY, 1.8e-3, "the adapter is shared")):
        way = Of(interface=a.interface, approaches=(a, a), approach=a, transports="4 messages", most=4, vcis=a.vcis)
        measured = figures(t, 4e-4, 1.2, Of(value=0.1, low=-1e-7, high=0.2))
        each = [Of(transport_partitions=4, error=-0.5, **low, **high)] * 2 * exchanges
        expected = figures(t, 3e-4, 1.5, 0.2)
        cases.append(Of(way=way, why=why, words=a.name, expected=expected, measured=measured, exchanges=each))
    several = {"parts": parts, "exchanges": parts if exchanges else None}
    of: Any = Of(workload=Of(name="w", buffer=1024.0, baseline=BULK, **several), machine=Of(name="m"), cases=cases)
    of.judged, of.advised = Of(contradicted=contradicted, finding="saves less"), cases[1].way
    of.decision, of.below, of.notes = "Port: it saves.", ["many: it is slow"], ["a note"]
    lines = metric_lines(of)
    assert all(re.match(LINE, line) for line in lines[:-1])  # what other tools read
    page = re.sub("<[^>]*>", "", html(of, {"how it ran": "pready prove", "on": "a"}))
    assert "measured and predicted\nPort: it saves." in page
    assert page.partition("How\n")[2].startswith("how it ran  pready prove\non          a")
    return Text("\n".join(lines)) if metrics else proof_view(of)


def explained(notebook: bool = False) -> RenderableType:
    steps = Explained("join", "until the threads have met", 1e-6), Explained("wire", "until it is there", 0.0)
    two = Approach(BY_KEY["many"], 2, 2)
    ways = (Way(a, 1024.0, "eager", (("L", 1e-6),), steps, begin_s) for a, begin_s in ((BULK, 0.0), (two, 2e-3)))
    filled: Any = [Of(equation=Of(number="4"), text="eta = 2", note="corrected", latex="x")]
    no_answer, more = Of(advice=Of(doubt="it took long", verdict="undecided")), ["it is not the paper's"]
    head = {"machine": "m", "library": "l", "workload": "w", "seed": 3, "eta": 1.25, "closed_form_eta": 2.0}
    of: Any = Of(equations=filled, departures=more, prediction=no_answer, **head)
    of.bulk, of.way = ways
    return Text(markdown(of)) if notebook else view(of)


def ways(rows: Any, every_row: bool, consume: bool = False) -> RenderableType:
    """Way, messages, VCIs, us after ready, what is saved and more; the first is today's, the second is advised."""
    made = []
    for key, n, vcis, us, saves, more in rows:
        ends = {"speedup_percent": saves, "speedup_low_percent": saves - 1, "speedup_high_percent": saves + 1}
        made.append(row(key, n, vcis, time_s=us * 1e-6, eta=2.0, iteration_s=1e-3 - saves * 1e-5, **ends, **more))
    works = {"consume": {"time": "1 us"}, "receiver": "consuming"} if consume else {}
    what = load("examples/laggard.toml").changed(**works)
    psend = next((r for r in made if r.approach.interface.partitioned and r.available), None)
    told: Any = Of(workload=what.model_dump(mode="json"), approaches=made, bulk=made[0], advised=made[1])
    told.advice = Of(partitioned=Of(row=psend), bound=None, of_bound=lambda _: None)
    told.exchanges, told.ranks, told.iteration_s = (), (), (2e-3, 1e-3)
    told.today_s = (2e-3, made[0].time_s, 0.0)
    return ways_table(told, every_row=every_row)


def claims(rows: Any) -> RenderableType:
    return claims_view([ClaimResult(**{"got": None, **row}) for row in rows], 3)


@pytest.mark.parametrize(
    ("name", "given"), [(name, of) for name, each in table_of("pready/screens").items() for of in each]
)
def test_screens(name: str, given: dict[str, Any]) -> None:
    said, looks, stream = given.pop("said"), given.pop("looks"), io.StringIO()
    console = Console(file=stream, width=100, color_system=None, highlight=False)
    shown = globals()[name](**given)
    console.print(shown)
    assert "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) == said.strip("\n")
    styled = [s for s in console.render(shown) if s.style and s.text.strip(" ─\n")]
    assert " | ".join(f"{s.style}: {' '.join(s.text.split())}" for s in styled) == looks


@pytest.mark.parametrize(("verdicts", "fields", "where"), table_of("pready/lines")["points"])
def test_where_it_pays_of_some_points(verdicts: list[str], fields: int, where: str) -> None:
    rows = [{"a": n, "b": n, "best": True, "verdict": v, "partitioned_verdict": None} for n, v in enumerate(verdicts)]
    other = {"a": 9, "b": 9, "best": False, "verdict": "port", "partitioned_verdict": "port"}
    said = decision(Table(("a", "b")[:fields], [*rows, other]))
    assert said == f"Partitioned (MPI_Psend) pays at no point; the best way today pays at {where}."
