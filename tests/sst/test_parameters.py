"""One header, two languages: the parameters that Python reads are those that C++ compiles."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from pready.model.common.errors import PreadyError
from pready.sst.parameters import GROUPS, SOURCES, groups, motif_line, parameters

Dump = Callable[..., "subprocess.CompletedProcess[str]"]


def test_every_line_of_the_header_is_read() -> None:
    lines = [x for x in (SOURCES / "parameters.hpp").read_text().splitlines() if x.lstrip().startswith("X(")]
    assert len(lines) == sum(map(len, groups().values())) > 25


def test_every_group_belongs_to_a_motif_and_every_motif_is_registered() -> None:
    assert {g for gs in GROUPS.values() for g in gs} == set(groups())
    registered = (SOURCES / "part_motifs.cpp").read_text()
    for motif, used in GROUPS.items():
        assert f'"pready", "{motif}Motif"' in registered
        of_motif = registered.split(f"class {motif} ")[1].split("};")[0]
        assert {g for g in groups() if f"PREADY_{g}(PREADY_ELI)" in of_motif} == set(used)


@pytest.mark.thorough
def test_every_default_is_valid_in_cpp(dump: Dump) -> None:
    words = {f"{p.name}={p.default}" for motif in GROUPS for p in parameters(motif).values()}
    done = dump("halo3d", 8, 0, *sorted(words))
    assert done.returncode == 0, done.stderr
    assert done.stdout == dump("halo3d", 8, 0).stdout


def test_a_motif_line_leaves_defaults_out() -> None:
    assert motif_line("PartHalo3D", threads=1, transport=4, compute_ns=0.1) == (
        "pready.PartHalo3D transport=4 compute_ns=0.10000000000000001"
    )


def test_names_and_values_that_ember_would_not_take() -> None:
    with pytest.raises(PreadyError, match="PartHalo3D has no parameter 'pong'; valid: approach, threads"):
        motif_line("PartHalo3D", pong=1)
    with pytest.raises(PreadyError, match="has blanks or '='"):
        motif_line("PartHalo3D", record="my file.csv")
