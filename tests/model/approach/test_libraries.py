"""What an MPI library is told to do."""

from __future__ import annotations

import pytest

from pready.model.approach.interfaces import MANY, Approach
from pready.model.approach.libraries import MPICH_RELEASE
from pready.model.approach.vcis import vci_members


@pytest.mark.parametrize(
    ("threads", "transports", "vcis", "whose"),
    [
        (16, 16, 4, "thread i uses number i mod 4"),
        (16, 64, 16, "one per thread"),
        (16, 4, 4, "one per message"),
        (16, 8, 4, "message i uses number i mod 4"),
    ],
)
def test_communicators_are_for_whom_the_model_gives_them_to(
    threads: int, transports: int, vcis: int, whose: str
) -> None:
    approach = Approach(MANY, transports, vcis)
    said = MPICH_RELEASE.settings(approach, 2.0**20, threads, 64)
    assert said[-1] == f"{vcis} communicators (MPI_Comm_dup), {whose}"
    shared = [len(m) for m in vci_members(approach, threads, contexts=1000)]
    assert len(shared) == vcis
    lanes = min(threads, transports)
    assert ("mod" in whose) == (lanes > vcis)  # somebody shares
