"""Runs of one thing that disagree are of two machines, libraries or placements: named, and never averaged.

A message takes longer the larger it is, so that within a run only noise lets its time fall from one size to the next. A
run's time at a size therefore lies anywhere between the next size's, if that is less, and the last size's, if that is
more; two runs disagree where these ranges are more than `APART` apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.text import ImportFormatError
from pready.model.common.errors import shown
from pready.model.common.units import format_size, format_time

APART = 0.10
"""Relative difference of two runs of one machine at most."""
_SAY: Mapping[str, Mapping[str, str]] = {
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
_WORDS = {
    what: {name: re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])") for name, words in names.items()}
    for what, names in _SAY.items()
}
_NO_WORDS = re.compile(r"\b(?:OMPI|MPICH|MPIR|UCX|FI|I_MPI|PMIX|MV2|PSM2?)_[A-Z0-9_]+|ppr:\d+:node|per[-_ ]node")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BY = "by --take TEXT of its file, heading or command"


def taken(runs: Sequence[Measured], take: Sequence[str]) -> Sequence[Measured]:
    """The runs whose file, heading, command or test has one of the texts; FILE:LINE is one run's title.

    An ImportFormatError for a text that no run has.
    """
    for text in take:
        if not any(_has(run, text) for run in runs):
            some = ", ".join(repr(f"{PurePath(run.source).name}:{run.line}") for run in runs[:4])
            valid = f"part of a run's file, heading or command, or FILE:LINE, such as {some}"
            raise ImportFormatError(f"--take {shown(text)}: no run has it", valid=valid)
    return [run for run in runs if any(_has(run, text) for text in take)] if take else runs


def _has(run: Measured, text: str) -> bool:
    of = (run.source, run.heading, run.said, run.test.name)
    return f"{run.source}:{run.line}".endswith(text) or any(text in said for said in of)


def refuse_disagreeing(runs: Sequence[Measured]) -> None:
    """Raises where two runs of one thing differ by more than `APART`, beyond what their own scatter explains."""
    worst = 1 + APART
    found: tuple[float, Measured, Measured] | None = None
    ranges: dict[float, list[tuple[float, float, Measured]]] = {}
    for run in runs:
        times = [(size, 1 / value if run.kind == "pair_rates" else value) for size, value in run.values]
        for k, (size, _) in enumerate(times):
            low, high = min(t for _, t in times[k : k + 2]), max(t for _, t in times[max(k - 1, 0) : k + 1])
            ranges.setdefault(size, []).append((low, high, run))
    for size, some in ranges.items():
        slow, fast = max(some, key=lambda each: each[0]), min(some, key=lambda each: each[1])
        if slow[0] > worst * fast[1]:
            worst, found = slow[0] / fast[1], (size, fast[2], slow[2])
    if found is not None:
        size, *both = found
        names = " and ".join(dict.fromkeys(run.test.name for run in both))
        one, other, such = _apart(*both)
        of = [f"{dict(run.values)[size]:.4g}/s" if run.kind == "pair_rates" else format_time(dict(run.values)[size])
              for run in both]  # fmt: skip
        many = "two" if len(runs) == 2 else f"two of {len(runs)}"
        told = f"{many} runs of {names} differ at {format_size(size)}: {of[0]} {one}, {of[1]} {other}"
        raise ImportFormatError(told, valid=f"one of them, {_BY}, such as {such}")


def refuse_two(runs: Sequence[Measured], *, one_node: bool) -> None:
    """Raises where commands have other settings, or paths, headings and commands name two placements, libraries or
    networks; a run that names no placement is between nodes where another is within one."""
    told = {"settings": {" ".join(run.command.settings): run for run in runs if run.command is not None}}
    for what, names in _WORDS.items():
        told[what] = {name: run for run in reversed(runs) if (name := _named(run, names))}
    places, unsaid = told["placements"], [run for run in runs if not placed(run)]
    if "within a node" in places and unsaid and not one_node:
        places.setdefault("between nodes", unsaid[0])
    told["placements"] = {name: places[name] for name in sorted(places, reverse=not one_node)}  # the other one last
    for what, found in told.items():
        if len(found) > 1:
            first, second, *_ = found.values()
            one, other, such = _apart(first, second)
            said = f"{what}, {' and '.join(found)}" if what != "settings" else "settings of the library"
            problem = f"runs of two {said}: {first.test.name} {one}, {second.test.name} {other}"
            raise ImportFormatError(problem, valid=f"those of one, {_BY}, such as {such}")


def placed_by_words(runs: Sequence[Measured], take: Sequence[str], *, one_node: bool, valid: str) -> None:
    """Raises where paths or headings name another placement than the one that is asked for, unless FILE:LINE takes that
    very run."""
    other = "between nodes" if one_node else "within a node"
    for run in (run for run in runs if placed(run) == other):
        if not any(":" in text and f"{run.source}:{run.line}".endswith(text) for text in take):
            told = f"its name, heading or command says {other}"
            raise ImportFormatError(told, valid="two ranks on one node" if one_node else valid, source=run.source)


def placed(run: Measured) -> str:
    """The placement that its path or heading names; empty: none."""
    return _named(run, _WORDS["placements"])


def _named(run: Measured, names: Mapping[str, re.Pattern[str]]) -> str:
    """What its path, heading or command names of these; empty: none, or several."""
    path, said = PurePath(run.source), "" if names is _WORDS["placements"] else run.said  # `command.py` has these
    text = f"/{'/'.join([*path.parts[-3:-1], path.stem])}/{path.suffix} | {run.heading} | {said}"
    text = _CAMEL.sub(" ", _NO_WORDS.sub("", text)).lower()
    text = re.sub(r"[_\-.:=\s]+", " ", text)
    found = [name for name, pattern in names.items() if pattern.search(text)]
    return found[0] if len(found) == 1 else ""


def _apart(*runs: Measured) -> tuple[str, str, str]:
    """What tells two runs apart, of each, and a text that only one of them has."""
    words = [run.said.split() for run in runs]
    more = []  # the words that the other one has not, options with their values
    for own, other in (words, words[::-1]):
        follow = [*(w not in other for w in own), False]
        more.append(" ".join(w for k, w in enumerate(own) if follow[k] or (follow[k + 1] and w.startswith("-"))))
    of = [set(run.command.settings) if run.command else set() for run in runs]
    pairs = [[" ".join(sorted(of[k] - of[1 - k])) for k in (0, 1)], more, [run.heading for run in runs]]
    aspects = next((pair for pair in pairs if pair[0] != pair[1]), ["", ""])
    parts = [PurePath(run.source).parts for run in runs]
    same = next((k for k, (a, b) in enumerate(zip(*parts, strict=False)) if a != b), len(min(parts)) - 1)
    names = ["/".join(each[same:]) for each in parts]
    lines = [f"{name}:{run.line}" if run.line else name for name, run in zip(names, runs, strict=True)]
    named = [f"({line}{f', {shown(aspect)}' if aspect else ''})" for line, aspect in zip(lines, aspects, strict=True)]
    texts = (*aspects[::-1], *names[::-1], *lines[::-1])
    such = next((text for text in texts if text and _has(runs[0], text) != _has(runs[1], text)), lines[1])
    return named[0], named[1], shown(such, 200)
