"""A proof in the terminal: what was predicted and measured, side by side. Shows; computes nothing."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pready.model.units import format_size, format_time
from pready.model.workload import Workload
from pready.show.prediction import VERDICT_STYLE
from pready.validate.prove import Proof
from pready.validate.prove.session import Case
from pready.validate.report.summary import signed


def proof_view(proof: Proof) -> RenderableType:
    """The table, the verdict, and what is suspected where they differ."""
    w = proof.workload
    table = Table(
        title=f"{w.name} on {proof.machine.name}: {_what(w)}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name, justify in (
        ("approach", "left"),
        ("parts\n× VCIs", "right"),
        ("", "left"),
        ("iteration", "right"),
        ("communication\n(95 %, rounds)", "left"),
        ("η\n(95 %, rounds)", "left"),
        ("run\ntime", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for case in proof.cases:
        _add(table, case, chosen=case.way == proof.advised, today=case.way.approach == w.baseline)
    lines = [_verdict(proof)]
    for check in proof.comparison.checks:
        if not check.ok and check.name != "verdict kept":
            lines.append(Text(f"{check.name}: {check.value:.1%}, more than {check.limit:.0%}", style="yellow"))
    lines += [
        Text(f"{c.way.interface.name}, {c.way.transports} parts: suspected: {c.result.suspect}")
        for c in proof.cases
        if c.result.suspect
    ]
    lines += [Text(f"note: {note}", style="dim") for note in proof.comparison.notes]
    return Group(table, *([_of_exchanges(proof)] if proof.cases[0].result.exchanges else []), *lines)


def _of_exchanges(proof: Proof) -> Table:
    """What each exchange of the step takes, beside the same in the other ways."""
    table = Table(
        title="each exchange's communication",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in ("exchange", "approach", "parts\n× VCIs", "predicted", "measured\n(rounds)", "error"):
        table.add_column(name, justify="left" if name in ("exchange", "approach") else "right", no_wrap=True)
    for number, part in enumerate(proof.workload.parts):
        for case in proof.cases:
            r = case.result.exchanges[number]
            last = case is proof.cases[-1]
            table.add_row(
                part.name if case is proof.cases[0] else "",
                ("→ " if case.way == proof.advised else "  ") + case.way.approaches[number].name,
                f"{r.transport_partitions} × {r.vcis}",
                format_time(r.predicted_s),
                f"{format_time(r.measured_s)} ({format_time(r.measured_low_s)}-{format_time(r.measured_high_s)})",
                signed(r.error),
                end_section=last,
            )
    return table


def _add(table: Table, case: Case, *, chosen: bool, today: bool) -> None:
    r, e = case.result, case.expected
    table.add_row(
        ("→ " if chosen else "  ") + case.way.interface.name,
        f"{case.way.transports} × {case.way.vcis}",
        "predicted",
        format_time(e.iteration_s),
        f"{format_time(e.time_s)} ({format_time(e.time_low_s)}-{format_time(e.time_high_s)})",
        "" if today else f"{e.eta:.2f}× ({e.eta_low:.2f}-{e.eta_high:.2f})",
        "" if today else f"{-100 * e.saving:+.1f} %",
    )
    table.add_row(
        "",
        "",
        "measured",
        format_time(case.iteration_s),
        f"{format_time(r.measured_s)} ({format_time(r.measured_low_s)}-{format_time(r.measured_high_s)})",
        "" if today else f"{r.eta_measured:.2f}× ({r.eta_measured_low:.2f}-{r.eta_measured_high:.2f})",
        "" if today else f"{-100 * case.saving:+.1f} %",
        style="bold" if chosen else "",
        end_section=True,
    )


def _what(w: Workload) -> str:
    patterns = " + ".join(dict.fromkeys(part.pattern for part in w.parts))
    if w.exchanges is None:
        return f"{format_size(w.buffer)} per peer, {patterns}"
    return f"{len(w.parts)} exchanges, up to {format_size(w.buffer)} per peer, {patterns}"


def _verdict(proof: Proof) -> Text:
    line = Text(f"verdict {'kept' if proof.kept else 'NOT kept'}", style="bold green" if proof.kept else "bold red")
    line.append(": predicted ", style="default not bold").append(proof.predicted, style=VERDICT_STYLE[proof.predicted])
    line.append(", measured ", style="default not bold").append(proof.measured, style=VERDICT_STYLE[proof.measured])
    return line.append(f"; regret {proof.regret:.1%} of an iteration", style="default not bold")
