"""Runs of one thing that disagree are of two machines, libraries or placements: named, and never averaged.

A message takes longer the larger it is, so that within a run only noise lets its time fall from one size to the next. A
run's time at a size therefore lies anywhere between the next size's, if that is less, and the last size's, if that is
more; two runs disagree where these ranges are more than `APART` apart.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.text import ImportFormatError
from pready.model.common.errors import shown
from pready.model.common.units import format_size, format_time

APART = 0.10
"""Relative difference of two runs of one machine at most."""
_WORDS: Mapping[str, Mapping[str, str]] = {
    "placements": {
        "within a node": r"intra(?: ?nodes?)?|(?:single|one|1) ?node|1nodes|same ?(?:node|numa|socket|core)s?"
        r"|diff(?:erent)? ?(?:numa|socket|core)s?|within (?:a |one |the |)node|shared ?mem(?:ory)?|shm"
        r"|(?<=/)(?:cores?|sockets?|numa|cache)(?=/)",
        "between nodes": r"inter(?: ?nodes?)?|(?:two|2|diff|different|off|cross) ?nodes?|between nodes"
        r"|(?<=/)nodes?(?=/)",
    },
    "libraries": {
        "Open MPI": r"open ?mpi ?\d*|ompi\d*|hpc ?x",
        "MPICH": r"(?<!cray )mpich ?\d*",
        "MVAPICH": r"mvapich ?\d*",
        "Intel MPI": r"intel ?mpi|impi\d*",
        "Cray MPICH": r"cray ?mpich ?\d*",
    },
    "networks": {
        "TCP": r"tcp|sockets",
        "RoCE": r"ro ?ce",
        "InfiniBand": r"infini ?band|ib|verbs",
        "Omni-Path": r"omni ?path|opa|psm2",
        "EFA": r"efa",
        "Slingshot": r"slingshot|cxi",
    },
}
"""What tells two runs apart, and the words in a path, a heading or a command that say it."""
_NO_WORDS = re.compile(r"\b(?:OMPI|MPICH|MPIR|UCX|FI|I_MPI|PMIX|MV2|PSM2?)_[A-Z0-9_]+|ppr:\d+:node|per[-_ ]node")


def taken(runs: Sequence[Measured], take: Sequence[str]) -> Sequence[Measured]:
    """The runs whose file, heading, command or test has one of the texts; FILE:LINE is one run's title."""
    for text in take:
        if not any(_has(run, text) for run in runs):
            some = ", ".join(repr(f"{PurePath(run.source).name}:{run.line}") for run in runs[:4])
            valid = f"part of a run's file, heading or command, or FILE:LINE, such as {some}"
            raise ImportFormatError(f"--take {shown(text)}: no run has it", valid=valid)
    return [run for run in runs if any(_has(run, text) for text in take)] if take else runs


def _has(run: Measured, text: str) -> bool:
    of = (run.source, run.heading, run.command.text, run.test.name)
    return f"{run.source}:{run.line}".endswith(text) or any(text in said for said in of)


def refuse_disagreeing(runs: Sequence[Measured]) -> None:
    """Raises where two runs of one thing differ by more than `APART`, beyond what their own scatter explains."""
    ranges: dict[float, list[tuple[float, float, Measured]]] = {}
    for run in runs:
        times = [(size, 1 / value if run.kind == "pair_rates" else value) for size, value in run.values]
        for k, (size, _) in enumerate(times):
            low, high = min(t for _, t in times[k : k + 2]), max(t for _, t in times[max(k - 1, 0) : k + 1])
            ranges.setdefault(size, []).append((low, high, run))
    apart: list[tuple[float, float, list[Measured]]] = []
    for size, some in ranges.items():
        slow, fast = max(some, key=lambda each: each[0]), min(some, key=lambda each: each[1])
        apart.append((slow[0] / fast[1], size, [fast[2], slow[2]]))
    most, size, both = max(apart, key=lambda each: each[0])
    if most > 1 + APART:
        names = " and ".join(dict.fromkeys(run.test.name for run in both))
        values = [dict(run.values)[size] for run in both]
        of = [f"{value:.4g}/s" if runs[0].kind == "pair_rates" else format_time(value) for value in values]
        many = "two" if len(runs) == 2 else f"two of {len(runs)}"
        raise _refusal(f"{many} runs of {names} differ at {format_size(size)}", of, both, "one of them")


def refuse_two(runs: Sequence[Measured], *, one_node: bool) -> None:
    """Raises where commands have other settings, or paths, headings and commands name two placements, libraries or
    networks; a run that names no placement is between nodes where another is within one."""
    told = {"settings": {" ".join(run.command.settings): run for run in runs if run.command.text}}
    for what in _WORDS:
        told[what] = {name: run for run in reversed(runs) if (name := named(run, what))}
    places, unsaid = told["placements"], [run for run in runs if not named(run, "placements")]
    if "within a node" in places and unsaid and not one_node:
        places.setdefault("between nodes", unsaid[0])
    told["placements"] = {name: places[name] for name in sorted(places, reverse=not one_node)}  # the other one last
    for what, found in told.items():
        if len(found) > 1:
            both = [*found.values()][:2]
            said = f"{what}, {' and '.join(found)}" if what != "settings" else "settings, of the library or the system"
            raise _refusal(f"runs of two {said}", [run.test.name for run in both], both, "those of one")


def placed_by_words(runs: Sequence[Measured], take: Sequence[str], *, one_node: bool, valid: str) -> None:
    """Raises where paths or headings name another placement than the one that is asked for, unless FILE:LINE takes that
    very run."""
    other = "between nodes" if one_node else "within a node"
    for run in (run for run in runs if named(run, "placements") == other):
        if not any(":" in text and f"{run.source}:{run.line}".endswith(text) for text in take):
            told = f"its name, heading or command says {other}"
            raise ImportFormatError(told, valid="two ranks on one node" if one_node else valid, source=run.source)


def named(run: Measured, what: str) -> str:
    """The placement, library or network that its path, heading or command names; empty: none, or several."""
    path, said = PurePath(run.source), "" if what == "placements" else run.command.text  # `command.py` has these
    text = f"/{'/'.join([*path.parts[-3:-1], path.stem])}/{path.suffix} | {run.heading} | {said}"
    text = re.sub(r"[_\-.:=\s]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", _NO_WORDS.sub("", text)).lower())
    found = [name for name, words in _WORDS[what].items() if re.search(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", text)]
    return found[0] if len(found) == 1 else ""


def _refusal(problem: str, says: Sequence[str], runs: Sequence[Measured], valid: str) -> ImportFormatError:
    """The error of two runs: what each `says`, what tells them apart, and a text for --take that only one has."""
    words = [run.command.text.split() for run in runs]
    more = []  # the words that the other one has not, options with their values
    for own, other in (words, words[::-1]):
        follow = [*(w not in other for w in own), False]
        more.append(" ".join(w for k, w in enumerate(own) if follow[k] or (follow[k + 1] and w.startswith("-"))))
    of = [set(run.command.settings) for run in runs]
    pairs = [[" ".join(sorted(of[k] - of[1 - k])) for k in (0, 1)], more, [run.heading for run in runs]]
    aspects = next((pair for pair in pairs if pair[0] != pair[1]), ["", ""])
    parts = [PurePath(run.source).parts for run in runs]
    same = next((k for k, (a, b) in enumerate(zip(*parts, strict=False)) if a != b), len(min(parts)) - 1)
    names = ["/".join(each[same:]) for each in parts]
    lines = [f"{name}:{run.line}" if run.line else name for name, run in zip(names, runs, strict=True)]
    told = [f"{said} ({line}{f', {shown(aspect)}' if aspect else ''})"
            for said, line, aspect in zip(says, lines, aspects, strict=True)]  # fmt: skip
    texts = (*aspects[::-1], *names[::-1], *lines[::-1])
    such = next((text for text in texts if text and _has(runs[0], text) != _has(runs[1], text)), lines[1])
    valid = f"{valid}, by --take TEXT of its file, heading or command, such as {shown(such, 200)}"
    return ImportFormatError(f"{problem}: {', '.join(told)}", valid=valid)
