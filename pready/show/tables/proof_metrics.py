"""A proof as one stable line per figure, for the regular expressions of ReFrame and other tools."""

from __future__ import annotations

from pready.validate.prove.session import Proof

LINE = r"^pready\.(?P<name>\w+)\[(?P<approach>[\w:.-]+)\] = (?P<value>-?[\d.e+-]+) (?P<unit>us|percent|1)$"
"""What each line matches but the last, which is ``pready.finding = WORDS``."""


def metric_lines(proof: Proof) -> list[str]:
    """Measured and predicted times and savings of each approach, and what the comparison found."""
    lines = []
    for case in proof.cases:
        m, expected, saving = case.measured, case.expected, case.measured.saving
        figures = (
            ("communication_measured", m.time_s * 1e6, "us"),
            ("communication_predicted", expected.time_s * 1e6, "us"),
            ("iteration_measured", m.iteration_s * 1e6, "us"),
            ("iteration_predicted", expected.iteration_s * 1e6, "us"),
            ("saving_measured", saving.value * 100, "percent"),
            ("saving_measured_low", saving.low * 100, "percent"),
            ("saving_measured_high", saving.high * 100, "percent"),
            ("saving_predicted", expected.saving * 100, "percent"),
            ("eta_measured", m.eta, "1"),
            ("eta_predicted", expected.eta, "1"),
        )
        key = "bulk" if case is proof.cases[0] else f"{case.way.interface.key}:{case.way.most}"
        lines += [f"pready.{name}[{_word(key)}] = {value:.9g} {unit}" for name, value, unit in figures]
    return [*lines, f"pready.finding = {proof.judged.finding}"]


def _word(key: str) -> str:
    return "".join(c if c.isalnum() or c in ":.-" else "_" for c in key)
