"""The summary of a validation: where the model is right, where it is wrong, by how much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pready.model.approach.interfaces import SINGLE
from pready.model.common.arrays import Array
from pready.validate.result import CaseResult, Check, ClaimResult, Comparison, Kind, Reading, Report, Shown, Status

STATUSES: tuple[Status, ...] = ("off", "ok", "out of scope")
"""As reports list them: what needs a reader first."""
WORST = 10
KINDS: tuple[tuple[Kind, str, str], ...] = (
    ("fabrics", "measurements on", "real machine"),
    ("papers", "checked claims of", "paper"),
)
DIGITS, MOST_DIGITS = 4, 10
BINS = ((0.0, "below 4 KiB"), (2.0**12, "4-64 KiB"), (2.0**16, "64 KiB-1 MiB"), (2.0**20, "1 MiB and above"))
"""Buffer sizes in bytes from which a row of the table by size begins."""


def counts(claims: Iterable[ClaimResult]) -> dict[Status, int]:
    """How many claims have each status."""
    found = dict.fromkeys(STATUSES, 0)
    for claim in claims:
        found[claim.status] += 1
    return found


def by_source(claims: Iterable[ClaimResult]) -> dict[str, list[ClaimResult]]:
    """Claims of each machine, then of each paper, in the order of `STATUSES`, otherwise as they came."""
    grouped: dict[str, list[ClaimResult]] = {}
    for claim in sorted(claims, key=lambda c: (c.of, c.source, STATUSES.index(c.status))):
        grouped.setdefault(claim.source, []).append(claim)
    return grouped


def by_reason(claims: Iterable[ClaimResult]) -> dict[str, list[ClaimResult]]:
    """Claims that are off by the reason that is known, those without one ("") first."""
    grouped: dict[str, list[ClaimResult]] = {}
    off = (c for c in claims if c.status == "off")
    for claim in sorted(off, key=lambda c: (c.known_off, c.source)):
        grouped.setdefault(claim.why if claim.known_off else "", []).append(claim)
    return grouped


def value(shown: Shown, unit: str = "", digits: int = DIGITS) -> str:
    """An expected or computed value as a table shows it, with its unit."""
    if shown is None:
        return "-"
    if isinstance(shown, bool):
        return "yes" if shown else "no"
    text = number(shown, digits) if isinstance(shown, (int, float)) else shown
    return text if unit in ("", "1") else f"{text}\N{NO-BREAK SPACE}{unit}"


def number(x: float, digits: int) -> str:
    """`digits` significant digits, whole numbers in full; an exponent only where zeros would have to be counted."""
    if abs(x) < 1e7 and x == int(x):
        return f"{int(x)}"
    if not 1e-4 <= abs(x) < 1e7:
        return f"{x:.{digits}g}"
    return np.format_float_positional(x, precision=digits, unique=False, fractional=False, trim="-")


def pair(of: ClaimResult | Reading, unit: str) -> tuple[str, str]:
    """Expected and computed value, with enough digits to show a difference."""
    digits = DIGITS
    if of.status == "off":
        while digits < MOST_DIGITS and value(of.expected, "", digits) == value(of.got, "", digits):
            digits += 1
    return value(of.expected, unit, digits), value(of.got, unit, digits)


def status(claim: ClaimResult) -> str:
    """The status in words: "known off" where somebody has looked into it, "weak" where no wrong machine turns it."""
    if claim.weak:
        return "weak"
    return "known off" if claim.known_off and claim.status == "off" else claim.status


def able_to_fail(claims: Iterable[ClaimResult]) -> tuple[int, int]:
    """Independent claims that a wrong machine could turn: how many are ok, of how many."""
    asked = [c for c in claims if c.basis == "independent" and not c.weak]
    return sum(c.status == "ok" for c in asked), len(asked)


def deviation(expected: Shown, got: Shown) -> float | None:
    """Got over expected, minus 1; None where that means nothing."""
    numbers = (float, int)
    if isinstance(expected, bool) or isinstance(got, bool):
        return None
    if not isinstance(expected, numbers) or not isinstance(got, numbers) or expected == 0 or not math.isfinite(got):
        return None
    return got / expected - 1


def check_value(number: float, unit: str) -> str:
    """A check's value or limit: a number without unit is a share, shown in per cent; NaN means no case to judge by."""
    if math.isnan(number):
        return "no case"
    return f"{number:.3g} {unit}" if unit else percent(number)


def percent(share: float | None) -> str:
    """A share as per cent; a dash where there is none."""
    if share is None:
        return "-"
    return f"{100 * share:.{1 if abs(share) < 1 else 0}f}\N{NO-BREAK SPACE}%"


def signed(relative: float | None) -> str:
    """A relative deviation with its sign: per cent when small, a factor when large."""
    if relative is None:
        return ""
    if relative >= 1 or relative <= -0.5:
        return f"{relative + 1:.3g}×"
    if abs(relative) < 1e-9:  # rounding
        return "0"
    shown = f"{100 * relative:+.1f}" if abs(relative) >= 5e-4 else f"{100 * relative:+.1g}"
    return f"{shown}\N{NO-BREAK SPACE}%".replace("-", "\N{MINUS SIGN}")


def short_id(claim: ClaimResult) -> str:
    """A claim's identifier where its paper or machine is known."""
    return claim.id.removeprefix(f"{claim.source}/")


BASES = ("derived", "fitted", "independent")


@dataclass(frozen=True)
class Tally:
    """One paper's or machine's claims in numbers: for each basis how many are ok, and how many were checked."""

    source: str
    ok: dict[str, int]
    checked: dict[str, int]
    able_to_fail: tuple[int, int]
    """Of the independent ones that are not weak: how many are ok, and how many there are."""
    weak: int
    off: int
    known_off: int
    out_of_scope: int


def tallies(claims: Sequence[ClaimResult]) -> list[Tally]:
    """One row for each source, and one for all of them if they are of one kind."""
    sources = by_source(claims)
    rows = [_tally(source, found) for source, found in sources.items()]
    alike = len(sources) > 1 and len({c.of for c in claims}) == 1
    return [*rows, _tally("all", claims)] if alike else rows


def _tally(source: str, claims: Sequence[ClaimResult]) -> Tally:
    def count(basis: str, *wanted: Status) -> int:
        return sum(c.basis == basis and c.status in wanted for c in claims)

    return Tally(
        source,
        {b: count(b, "ok") for b in BASES},
        {b: count(b, "ok", "off") for b in BASES},
        able_to_fail(claims),
        sum(c.weak for c in claims),
        sum(c.status == "off" for c in claims),
        sum(status(c) == "known off" for c in claims),
        sum(c.status == "out of scope" for c in claims),
    )


def is_bulk(case: CaseResult) -> bool:
    """Bulk is the baseline of η: its own is 1 by definition and says nothing."""
    return case.approach in (SINGLE.key, SINGLE.name)


def miss(case: CaseResult) -> float:
    """How far off a case is: the larger of the factors in time and η, as |log|, so that 2× and ½× are alike."""
    ratios = [case.predicted_s / case.measured_s, case.eta_predicted / case.eta_measured]
    return float(np.abs(np.log(ratios)).max())


def worst(cases: Iterable[CaseResult], most: int = WORST) -> list[CaseResult]:
    """The cases that are furthest off beyond what their own spread explains, the worst first."""
    return sorted(cases, key=lambda c: miss(c) - math.log1p(c.spread), reverse=True)[:most]


@dataclass(frozen=True)
class Group:
    """How well a group of cases is predicted: medians and 90th percentiles of absolute relative errors.

    Figures of η leave bulk out; None where nothing else is in the group, or Eq. 3 was not computed.
    """

    label: str
    cases: int
    time_median: float
    time_p90: float
    eta_median: float | None
    eta_p90: float | None
    closed_form_median: float | None
    inside: float | None
    """Share of the measured times that lie in the predicted interval; None where predictions have none."""


def groups(cases: Sequence[CaseResult], label: Callable[[CaseResult], str]) -> list[Group]:
    """Cases with the same label together, in the order of first appearance."""
    found: dict[str, list[CaseResult]] = {}
    for case in cases:
        found.setdefault(label(case), []).append(case)
    return [_group(name, members) for name, members in found.items()]


def size_label(case: CaseResult) -> str:
    """The row of the table by size that a case belongs to."""
    return [name for least, name in BINS if case.buffer >= least][-1]


def by_size(cases: Sequence[CaseResult]) -> list[Group]:
    """One group for each range of buffer sizes, the smallest first."""
    return groups(sorted(cases, key=lambda c: c.buffer), size_label)


def by_approach(cases: Sequence[CaseResult]) -> list[Group]:
    """One group for each library and approach."""
    return groups(sorted(cases, key=lambda c: (c.library, c.approach)), lambda c: f"{c.library}: {c.approach}")


def _group(name: str, cases: Sequence[CaseResult]) -> Group:
    fine = [c for c in cases if not is_bulk(c)]
    time = np.array([abs(c.error) for c in cases])
    eta = np.array([abs(c.eta_error) for c in fine])
    closed = np.array([abs(c.eta_closed_form / c.eta_measured - 1) for c in fine if c.eta_closed_form is not None])
    wide = [c for c in cases if c.predicted_low_s < c.predicted_high_s]
    inside = [c.predicted_low_s <= c.measured_s <= c.predicted_high_s for c in wide]
    return Group(
        name,
        len(cases),
        float(np.median(time)),
        float(np.percentile(time, 90)),
        _percentile(eta, 50),
        _percentile(eta, 90),
        _percentile(closed, 50),
        float(np.mean(inside)) if inside else None,
    )


def _percentile(values: Array, q: float) -> float | None:
    return float(np.percentile(values, q)) if len(values) else None


def failed(report: Report) -> list[tuple[Comparison, Check]]:
    """Checks that do not keep their limits."""
    return [(comparison, check) for comparison in report.comparisons for check in comparison.checks if not check.ok]


def _known(claims: Sequence[ClaimResult]) -> str:
    known = sum(status(c) == "known off" for c in claims)
    return f" ({known} of them for a reason that is known)" if known else ""


def headline(report: Report) -> list[str]:
    """Two sentences for real machines and for papers, the second of what counts, and one for each comparison."""
    said = []
    for kind, what, one in KINDS:
        claims = [c for c in report.claims if c.of == kind]
        if not claims:
            continue
        found = counts(claims)
        checked = found["ok"] + found["off"]
        sources = len({c.source for c in claims})
        scope = f"; {found['out of scope']} are out of scope" if kind == "papers" or found["out of scope"] else ""
        said.append(
            f"{found['ok']} of {checked} {what} {sources} {one}{'s' * (sources != 1)} agree, "
            f"{found['off']} do not{_known(claims)}{scope}."
        )
        ok, able = able_to_fail(claims)
        weak = sum(c.weak for c in claims)
        if able or weak:
            more = f"; {weak} more agree{'s' * (weak == 1)} whatever the machine (weak)" if weak else ""
            said.append(f"Independent and able to fail: ok {ok} of {able}{more}.")
    for comparison in report.comparisons:
        kept = sum(c.ok for c in comparison.checks)
        text = f"{comparison.title}: {kept} of {len(comparison.checks)} checks keep their limits"
        if not comparison.checks:
            text = f"{comparison.title}: not judged"
        if comparison.cases:
            all_ = _group("", comparison.cases)
            text += f"; over {all_.cases} cases the predicted time is off by {all_.time_median:.1%} in the median"
            text += f" ({all_.time_p90:.1%} at the 90th percentile)"
            if all_.eta_median is not None:
                text += f", η by {all_.eta_median:.1%} ({all_.eta_p90:.1%})"
            if all_.closed_form_median is not None:
                text += f"; Eq. 3 alone misses η by {all_.closed_form_median:.1%}"
        if comparison.controls:
            caught, wanted = sum(c.rejected for c in comparison.controls), len(comparison.controls)
            text += f"; {caught} of {wanted} negative controls are rejected"
            text += ", as they must be" if caught == wanted else ", where all must be"
        said.append(text.replace("%", "\N{NO-BREAK SPACE}%") + ".")
    return said
