"""What being captured costs: the same program with and without the preloaded library, in pairs.

Needs an MPI: ``PREADY_MPICH_PREFIX`` or ``PREADY_OPENMPI_PREFIX`` names where its ``bin`` is, else PATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from pready.calibrate.capture.build import build_library
from pready.calibrate.capture.environment import variables
from pready.calibrate.measure.compile import BuildError, find_mpicc

PAIRS = 20
THREADS = 2
REGIONS = 20_000
SOURCE = r"""
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static volatile double kept;
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int regions = atoi(argv[1]), work = atoi(argv[2]);
    double best = 1e9;
    for (int repeat = 0; repeat < 5; repeat++) {
        const double begin = omp_get_wtime();
        for (int i = 0; i < regions / 5; i++)
#pragma omp parallel
        {
            double sum = 0;
            for (int j = 0; j < work; j++)
                sum += 1.0 / (j + 1);
            kept = sum;
        }
        const double took = (omp_get_wtime() - begin) / (regions / 5);
        best = took < best ? took : best;
    }
    printf("%.9e\n", best);
    MPI_Finalize();
    return 0;
}
"""


def seconds_per_region(words: list[str], environment: dict[str, str]) -> float:
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return float(done.stdout)


def compared(launch: list[str], program: Path, library: Path, work: int, regions: int) -> tuple[float, float]:
    """Median over pairs, which take turns: seconds per region without the library, and what it adds."""
    alone, added = [], []
    for pair in range(PAIRS):
        with tempfile.TemporaryDirectory() as folder:
            captured = variables(library, Path(folder), 256, launch, os.environ)
            settings = {"OMP_NUM_THREADS": str(THREADS), "OMP_PROC_BIND": "true"}
            words = [*launch, str(program), str(regions), str(work)]
            both = [settings, {**settings, **captured}]
            order = both if pair % 2 else both[::-1]
            first, second = (seconds_per_region(words, environment) for environment in order)
            plain, with_us = (first, second) if pair % 2 else (second, first)
        alone.append(plain)
        added.append(with_us - plain)
    return median(alone), median(added)


def main() -> None:
    prefix = os.environ.get("PREADY_MPICH_PREFIX") or os.environ.get("PREADY_OPENMPI_PREFIX")
    try:
        mpicc = find_mpicc(f"{prefix}/bin/mpicc" if prefix else None)
    except BuildError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return
    launch = [f"{prefix}/bin/mpiexec", "-n", "1"] if prefix else []
    library = build_library(mpicc)
    print(f"| work per thread | region alone | captured | per thread and region ({PAIRS} pairs) |")
    print("| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "regions"
        subprocess.run(
            [*mpicc, "-O2", "-fopenmp", "-x", "c", "-", "-o", str(program)], input=SOURCE, text=True, check=True
        )
        for work, regions in ((0, REGIONS), (20_000, REGIONS // 4)):
            alone, added = compared(launch, program, library, work, regions)
            what = "nothing" if work == 0 else f"{work} divisions"
            print(
                f"| {what} | {alone * 1e6:.2f} us | {added / alone:+.1%} | {added * 1e9 / THREADS:.0f} ns |",
                flush=True,
            )


if __name__ == "__main__":
    main()
