#!/bin/sh
#SBATCH --ntasks=2 --time=02:00:00
# Every check against SST, from the root of a checkout: sbatch packaging/sst/checks.sh, or sh packaging/sst/checks.sh.
# SST is on PATH, as after `spack install sst-elements` and here `spack load sst-elements`; Spack removes the sources, whose
# headers the motifs need once: PREADY_SST_HEADERS names a checkout of sst-elements of that version.
set -eu
command -v sst >/dev/null || { echo "no sst on PATH: spack load sst-elements" >&2; exit 3; }
make --silent .venv/.test-installed
.venv/bin/pready sst info
.venv/bin/pytest -rs tests/sst tests/validate
sst-test-elements -p "$PWD/sst-motifs/tests" -y default
for seed in 0 4242 31337; do
    for machine in meluxina bebop; do
        .venv/bin/pready validate sst --machine "$machine" --seed "$seed"
    done
done
