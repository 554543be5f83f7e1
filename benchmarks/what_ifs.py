"""How often is each way advised? Random what-ifs over the shipped machines, each with its library.

``python benchmarks/what_ifs.py --count 200 --seed 0`` prints verdicts on partitioned communication and, by interface,
how often it is the best way today, how often that pays, and how often its costs are assumed (RMA: never).
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from coverage_of_intervals import what_if

from pready.model.advice.predict import predict
from pready.model.machine.machine import load


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    asked, best, pays, assumed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for number in range(arguments.count):
        profile, workload = what_if(random.Random(f"{arguments.seed}-{number}"))
        made = predict(load(profile), workload, seed=number, whole=())
        row = made.advised
        if (of := made.advice.partitioned) is not None:
            asked[of.verdict] += 1
        best[row.key] += 1
        pays[row.key] += made.advice.verdict == "port"
        assumed[row.key] += bool(row.unmeasured)
    print(f"seed {arguments.seed}, {arguments.count} what-ifs")
    print("partitioned:", ", ".join(f"{verdict} {n}" for verdict, n in asked.most_common()))
    print(f"{'best way today':20} best  pays  costs assumed")
    for key, n in best.most_common():
        print(f"{key:20} {n:4}  {pays[key]:4}  {assumed[key]:4}")


if __name__ == "__main__":
    main()
