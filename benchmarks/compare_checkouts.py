"""Do two checkouts of pready predict the same? Random workloads on the shipped machines, given to both.

::

    python benchmarks/compare_checkouts.py --before ../pready-before --after . --count 300 --each

Each checkout's own ``.venv/bin/python`` predicts the same workload files through `pready.predict`, and every number of
every row is compared. Exit status: 0 all agree; 1 something differs, crashed or was refused by one only; 2 usage.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from random_workloads import NODES, PATTERNS, Table, write_times, write_workload

import pready
from pready.model.machine.machine import load

LIBRARIES = (None, None, "openmpi-persist", "mpich-release")
KINDS = {"time_s": "time", "iteration_s": "time", "eta": "η"}
"""Fields of a row by the column in which their difference stands; all others are "other"."""
COUNTED = ("predicted", "refused by both", "refused by one or crashed", "rows", "rows that differ", "verdicts")
"""Columns; of verdicts, those that differ."""
MOST_SHOWN = 40


def profiles() -> dict[str, Path]:
    """The shipped machines, wherever a checkout keeps them."""
    model = Path(pready.__file__).resolve().parent / "model"
    return {p.stem: p for p in sorted(model.resolve().rglob("profiles/*.toml"))}


def make_jobs(folder: Path, machines: Mapping[str, Sequence[str]], options: argparse.Namespace) -> list[Table]:
    """Workload files, and how to predict each: mostly by the pattern's default engine, else by the other one."""
    write_times(folder)
    jobs: list[Table] = []
    for place, (name, given) in enumerate(machines.items()):
        intra = load(given[0]).intra is not None
        patterns = [p for p in options.only or PATTERNS if intra or p not in NODES]
        count = options.count if options.each else len(range(place, options.count, len(machines)))
        for number in range(count if patterns else 0):
            pattern = patterns[number % len(patterns)]
            rng = random.Random(f"{options.seed} {name} {pattern} {number}")
            path = folder / f"{name}-{number}-{pattern}.toml"
            write_workload(path, rng, pattern, intra)
            other = "engine" if pattern.startswith("pair") else "timeline"
            engine = None if pattern in ("list-uneven", *NODES) else rng.choice((None, None, other))
            job = {"file": str(path), "machine": name, "given": given, "pattern": pattern, "engine": engine}
            jobs.append({**job, "library": rng.choice(LIBRARIES), "draws": options.draws if number % 7 == 6 else 0})
    return jobs


def predict_jobs(file: str, which: int) -> None:
    """In a checkout's own Python: a line of JSON per job; the first says where its pready lies."""
    print(json.dumps(pready.__file__))
    for job in json.loads(Path(file).read_text(encoding="utf-8")):
        options = {name: job[name] for name in ("library", "draws", "engine") if job[name] is not None}
        try:
            made = pready.predict(job["file"], job["given"][which], **options)
        except pready.PreadyError as error:
            out: Table = {"refused": str(error)}
        except Exception as error:  # a crash is a result, too
            out = {"crashed": f"{type(error).__name__}: {error}"}
        else:
            parts = {"": made, **{f"exchange {i}, ": part for i, part in enumerate(made.exchanges, 1)}}
            out = {"rows": {}, "best": {}, "verdict": {}}
            for part, p in parts.items():
                for row in (r.to_dict() for r in p.approaches):
                    out["rows"][part + row_key(row)] = {k: v for k, v in row.items() if not isinstance(v, str)}
                out["best"][part] = part + row_key(p.advised.to_dict())
                out["verdict"][part] = p.advice.verdict
        print(json.dumps(out), flush=True)


def row_key(row: Table) -> str:
    return f"{row['key']} {row['transport_partitions']} × {row['vcis']}"


def run_both(folder: Path, checkouts: Sequence[Path], jobs: list[Table]) -> list[list[Table]]:
    """Both checkouts' answers, at the same time; a Python that finds another checkout's pready ends it all."""
    file, outs, children = folder / "jobs.json", [folder / "before.jsonl", folder / "after.jsonl"], []
    file.write_text(json.dumps(jobs), encoding="utf-8")
    for which, (checkout, out) in enumerate(zip(checkouts, outs, strict=True)):
        words = [str(checkout / ".venv/bin/python"), __file__, "--predict", str(file), str(which)]
        with out.open("w", encoding="utf-8") as stdout:
            children.append(subprocess.Popen(words, stdout=stdout))
    ended, both = [child.wait() for child in children], []
    for checkout, out, status in zip(checkouts, outs, ended, strict=True):
        where, *answers = map(json.loads, out.read_text(encoding="utf-8").splitlines() or ["null"])
        if status or len(answers) != len(jobs):
            sys.exit(f"{checkout}: ended with status {status} after {len(answers)} of {len(jobs)} workloads")
        if checkout.resolve() not in Path(where).resolve().parents:
            sys.exit(f"{checkout}: its Python imports {where}")
        both.append(answers)
    return both


def difference(name: str, a: object, b: object) -> float:
    """Relative; of percentages and of `availability`, which may be 0, at most a share of the whole."""
    if a == b:
        return 0.0
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isfinite(a) and math.isfinite(b)):
        return 0.0 if repr(a) == repr(b) else math.inf  # not a number twice is the same
    whole = 100 if name.endswith("percent") else 1 if name == "availability" else 0
    return abs(a - b) / max(abs(a), abs(b), whole)


def compare(jobs: list[Table], answers: Sequence[list[Table]], tolerance: float) -> bool:
    """Print what differs; does nothing?"""
    counts = {job["machine"]: dict.fromkeys(COUNTED, 0) for job in jobs}
    largest = {machine: dict.fromkeys(("time", "η", "other"), 0.0) for machine in counts}
    groups: dict[tuple[str, ...], list[tuple[float, str]]] = defaultdict(list)
    said: list[str] = []
    for job, a, b in zip(jobs, *answers, strict=True):
        count, most = counts[job["machine"]], largest[job["machine"]]
        asked = f"{Path(job['file']).name} engine={job['engine']} library={job['library']} draws={job['draws']}"
        if "rows" not in a or "rows" not in b:
            both = "refused" in a and "refused" in b
            count["refused by both" if both else "refused by one or crashed"] += 1
            said += [] if both else [f"{asked}\n    before: {outcome(a)}\n    after:  {outcome(b)}"]
            continue
        count["predicted"] += 1
        count["rows"] += len(a["rows"])
        for key in a["rows"] | b["rows"]:
            one, other = a["rows"].get(key, {}), b["rows"].get(key, {})
            by = {name: difference(name, one.get(name), other.get(name)) for name in one | other}
            for name, kind in ((name, KINDS.get(name, "other")) for name in by):
                most[kind] = max(most[kind], by[name])
            worst = max(by, key=lambda name: (name in KINDS and by[name] > tolerance, by[name]))
            if by[worst] > tolerance:
                count["rows that differ"] += 1
                interface = key.split(", ")[-1].split()[0]
                groups[job["machine"], job["pattern"], job["engine"] or "default", interface].append(
                    (by[worst], f"{worst} of {key}: {one.get(worst)} -> {other.get(worst)}, {asked}")
                )
        for part, verdict in a["verdict"].items():
            # Of two approaches that save the same, either may be called best.
            saved = [a["rows"].get(x["best"][part], {}).get("speedup_percent") for x in (a, b)]
            if b["verdict"][part] != verdict or difference("percent", *saved) > tolerance:
                count["verdicts"] += 1
                said += [f"{asked}\n    before: {outcome(a, part)}\n    after:  {outcome(b, part)}"]
    print(f"| machine | {' | '.join((*COUNTED, 'time', 'η', 'other'))} |\n|---|{'---:|' * (len(COUNTED) + 3)}")
    for name, count in counts.items():
        print(f"| {name} | {' | '.join([*map(str, count.values()), *(f'{x:.1e}' for x in largest[name].values())])} |")
    for group, some in sorted(groups.items(), key=lambda item: -max(item[1])[0])[:MOST_SHOWN]:
        print(f"{', '.join(group)}: {len(some)} rows, up to {max(some)[0]:.1e}: {max(some)[1]}")
    print("\n".join(said[:MOST_SHOWN]))
    print(f"Not shown: {max(0, len(groups) - MOST_SHOWN)} groups of rows, {max(0, len(said) - MOST_SHOWN)} workloads")
    return any(count["predicted"] for count in counts.values()) and not groups and not said


def outcome(answer: Table, part: str = "") -> str:
    if "rows" in answer:
        return f"{answer['verdict'][part]}, {answer['best'][part]}"
    return ", ".join(f"{how}: {text}" for how, text in answer.items())


def main() -> int:
    if sys.argv[1:2] == ["--predict"]:
        predict_jobs(sys.argv[2], int(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--before", type=Path, required=True, help="folder of a checkout with its .venv")
    parser.add_argument("--after", type=Path, required=True, help="likewise")
    parser.add_argument("--count", type=int, default=300, help="workloads, shared over the machines (%(default)s)")
    parser.add_argument("--each", action="store_true", help="so many for each machine")
    parser.add_argument("--only", action="append", choices=PATTERNS, help="these patterns alone")
    parser.add_argument("--machine", action="append", help="BEFORE=AFTER: files or profiles, in place of the shipped")
    parser.add_argument("--draws", type=int, default=4, help="of machines, for each seventh workload (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tolerance", type=float, default=1e-9, help="largest relative difference (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder for workloads and answers")
    options = parser.parse_args()
    for checkout in (options.before, options.after):
        if not (checkout / ".venv/bin/python").exists():
            parser.error(f"{checkout} has no .venv/bin/python")
    pairs = [pair.split("=") for pair in options.machine or ()] or [[name, name] for name in profiles()]
    machines = {Path(p[0]).stem: [str(Path(x).resolve()) if Path(x).is_file() else x for x in p] for p in pairs}
    for given in pairs:
        if len(given) != 2 or not all(Path(x).is_file() or x in profiles() for x in given):
            parser.error(f"--machine {'='.join(given)}, valid: two files, or of {', '.join(profiles())}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = (options.keep or Path(made)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        jobs = make_jobs(folder, machines, options)
        same = compare(jobs, run_both(folder, (options.before, options.after), jobs), options.tolerance)
    print(f"{'All agree' if same else 'They do not agree'}, {time.monotonic() - start:.0f} s")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
