"""Does an answer depend on its seed? Random what-ifs over the shipped machines, each with ten seeds.

``python benchmarks/seeds.py --count 200`` prints the share of answers whose word (port, do not port, undecided) is
another than that of most seeds (at most 2 %), the share whose interface is (4 %), and the median over the what-ifs of
the widest interval over the narrowest (1.25).
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter

from coverage_of_intervals import what_if

from pready.model.advice.predict import predict
from pready.model.machine.machine import load


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sample", default="seeds", help="of what-ifs: another name, others")
    arguments = parser.parse_args()
    words, interfaces, widths = 0, 0, list[float]()
    for number in range(arguments.count):
        profile, workload = what_if(random.Random(f"{arguments.sample}-{number}"))
        made = [predict(load(profile), workload, seed=seed, whole=()) for seed in range(arguments.seeds)]
        for of in ([p.advice.verdict for p in made], [p.advised.key for p in made]):
            other = len(of) - Counter(of).most_common(1)[0][1]
            if of[0] in ("port", "do not port", "undecided"):
                words += other
            else:
                interfaces += other
        wide = [p.advised.speedup_high_percent - p.advised.speedup_low_percent for p in made]
        if min(wide) > 0:
            widths.append(max(wide) / min(wide))
    answers = arguments.count * arguments.seeds
    print(f"{arguments.count} what-ifs of sample {arguments.sample!r}, {arguments.seeds} seeds")
    print(f"another word: {100 * words / answers:.1f} %")
    print(f"another interface: {100 * interfaces / answers:.1f} %")
    print(f"widest over narrowest interval: {statistics.median(widths):.2f} in the median")


if __name__ == "__main__":
    main()
