"""A proof in the terminal and as a page: predicted and measured, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pready.model.common.units import format_size, format_time
from pready.model.workload.workload import Workload
from pready.show.terminal.html import page
from pready.validate.prove.case import Case
from pready.validate.prove.session import Proof

DOUBT = "bold yellow"
STYLE = {
    "Port": "bold green",
    "Do not port": "bold",
    "Undecided": DOUBT,
    "Too noisy to judge": DOUBT,
    "Not confirmed": DOUBT,
}


def proof_view(proof: Proof) -> RenderableType:
    """The decision in words, then predicted beside measured, then why they differ."""
    w = proof.workload
    head, _, rest = proof.decision.partition(": ")
    first = Text(head, style="bold red" if proof.judged.contradicted else STYLE[head])
    lines = [first.append(f": {rest}", style="default not bold"), *map(Text, proof.below)]
    table = _table(
        f"{w.name} on {proof.machine.name}: {_what(w)}",
        ("approach", "", "iteration\n(change)", "communication\n(95 %, rounds)", "η\n(95 %, rounds)"),
    )
    for case in proof.cases:
        _add(table, proof, case)
    told = {line.partition(": ")[2] for line in proof.below}
    notes = [Text(f"{c.words}: {c.why}") for c in proof.cases if c.why and c.why not in told]
    notes += [Text(f"note: {note}", style="dim") for note in proof.notes]
    return Group(*lines, table, *([_of_exchanges(proof)] if proof.cases[0].exchanges else []), *notes)


def html(proof: Proof, about: Mapping[str, str]) -> str:
    """The page; `about`: how it came about, by name."""
    measured = Table.grid("", "", padding=(0, 2))
    for name, value in about.items():
        measured.add_row(name, value)
    return page(f"{proof.workload.name}: measured and predicted", [("", proof_view(proof)), ("How", measured)])


def _table(title: str, columns: Sequence[str]) -> Table:
    """A table of 80 columns, with each value above its range; narrower terminals fold cells."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _of_exchanges(proof: Proof) -> Table:
    """Times of each exchange of the step, by approach."""
    columns = ("exchange", "approach", "predicted", "measured\n(rounds)", "error")
    table = _table("each exchange's communication", columns)
    for number, part in enumerate(proof.workload.parts):
        for case in proof.cases:
            r = case.exchanges[number]
            table.add_row(
                part.name if case is proof.cases[0] else "",
                f"{_mark(proof, case)}{case.way.approaches[number].name}, {r.transport_partitions}",
                format_time(r.predicted_s),
                f"{format_time(r.measured_s)}\n({_range(r.measured_low_s, r.measured_high_s)})",
                f"{100 * r.error:+.1f} %",
                end_section=case is proof.cases[-1],
            )
    return table


def _add(table: Table, proof: Proof, case: Case) -> None:
    m, e, baseline = case.measured, case.expected, case.way.approach == proof.workload.baseline
    table.add_row(
        f"{_mark(proof, case)}{case.way.interface.name}\n  {_parts(case)}",
        "predicted",
        _changed(e.iteration_s, None if baseline else e.saving),
        f"{format_time(e.time_s)}\n({_range(e.time_low_s, e.time_high_s)})",
        "" if baseline else f"{e.eta:.2f}×\n({e.eta_low:.2f}-{e.eta_high:.2f})",
    )
    table.add_row(
        "",
        "measured",
        _changed(m.iteration_s, None if baseline else m.saving.value),
        f"{format_time(m.time_s)}\n({_range(m.time_low_s, m.time_high_s)})",
        "" if baseline else f"{m.eta:.2f}×\n({m.eta_low:.2f}-{m.eta_high:.2f})",
        style="bold" if case.way == proof.advised else "",
        end_section=True,
    )


def _mark(proof: Proof, case: Case) -> str:
    return "→ " if case.way == proof.advised else "  "


def _parts(case: Case) -> str:
    vcis = case.way.vcis
    return f"in {case.way.transports}" + (f" on {vcis} VCIs" if vcis > 1 else "")


def _changed(iteration_s: float, saving: float | None) -> str:
    return format_time(iteration_s) + ("" if saving is None else f"\n({-100 * saving:+z.1f} %)")


def _range(low: float, high: float) -> str:
    return f"{format_time(low)}-{format_time(high)}"


def _what(w: Workload) -> str:
    patterns = " + ".join(dict.fromkeys(part.pattern for part in w.parts))
    if w.exchanges is None:
        return f"{format_size(w.buffer)} per peer, {patterns}"
    return f"{len(w.parts)} exchanges, up to {format_size(w.buffer)} per peer, {patterns}"
