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
CALLS = 1000
SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile double kept;
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double least(double a, double b) { return a < b ? a : b; }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int n = atoi(argv[1]), work = atoi(argv[2]);
    double region = 1e9, call = 1e9;
    char in[64], out[64] = {0};
    for (int repeat = 0; repeat < 10; repeat++) {
        double begin = cpu();
        for (int i = 0; i < n; i++)
#pragma omp parallel num_threads(1)
        {
            double sum = 0;
            for (int j = 0; j < work; j++)
                sum += 1.0 / (j + 1);
            kept = sum;
        }
        region = least(region, (cpu() - begin) / n);
        begin = cpu();
        for (int i = 0; i < n; i++) {
            MPI_Request both[2];
            MPI_Irecv(in, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, &both[0]);
            MPI_Isend(out, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, &both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        }
        call = least(call, (cpu() - begin) / n / 3);
    }
    printf("%.9e %.9e\n", region, call);
    MPI_Finalize();
    return 0;
}
"""
"""CPU seconds of a region of one thread, and of one of three calls: other programs on the cores do not count."""


def compared(launch: list[str], program: Path, library: Path, work: int) -> list[tuple[float, float]]:
    """Medians over pairs that take turns, of a region and of a call: seconds without the library, and what it adds."""
    found = []
    for pair in range(PAIRS):
        with tempfile.TemporaryDirectory() as folder:
            captured = variables(library, Path(folder), 256, launch, os.environ)
            words = [*launch, str(program), str(CALLS), str(work)]
            order = [{}, captured] if pair % 2 else [captured, {}]
            said = [
                subprocess.run(words, env={**os.environ, **more}, capture_output=True, text=True, check=True).stdout
                for more in order
            ]
        plain, with_us = (list(map(float, text.split())) for text in (said if pair % 2 else said[::-1]))
        found.append([(a, b - a) for a, b in zip(plain, with_us, strict=True)])
    return [(median(a for a, _ in of), median(b for _, b in of)) for of in zip(*found, strict=True)]


def main() -> None:
    prefix = os.environ.get("PREADY_MPICH_PREFIX") or os.environ.get("PREADY_OPENMPI_PREFIX")
    try:
        mpicc = find_mpicc(f"{prefix}/bin/mpicc" if prefix else None)
    except BuildError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return
    launch = [f"{prefix}/bin/mpiexec", "-n", "1"] if prefix else []
    library = build_library(mpicc)
    print(f"| region | alone | captured adds | a call alone | adds ({PAIRS} pairs) |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "regions"
        words = [*mpicc, "-O2", "-fopenmp", "-x", "c", "-", "-o", str(program)]
        subprocess.run(words, input=SOURCE, text=True, check=True)
        for work in (0, 14_000, 70_000):
            (region, more), (call, more_) = compared(launch, program, library, work)
            share, named = f"{1e9 * more:.0f} ns, {more / region:+.1%}", f"{work} divisions" if work else "nothing"
            row = (named, f"{1e6 * region:.2f} us", share, f"{1e9 * call:.0f} ns", f"{1e9 * more_:.0f} ns")
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
