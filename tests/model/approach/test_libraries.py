"""What an MPI library is told to do."""

import re
from typing import Any

import pytest
from tables import table_of

from pready.model.approach.interfaces import BY_KEY, MANY, PART_AM, Approach
from pready.model.approach.libraries import LIBRARIES, Fact, library, mpich_6314_messages
from pready.model.approach.vcis import vci_members
from pready.model.common.errors import PreadyError

TABLES = table_of("model/settings")


@pytest.mark.parametrize(("sent", "received", "aggregate", "messages"), TABLES["aggregated"])
def test_mpich_6314_puts_as_many_together_as_fit(sent: int, received: int, aggregate: int, messages: int) -> None:
    assert mpich_6314_messages(sent, received, 8192, aggregate) == messages


@pytest.mark.parametrize(("threads", "transports", "vcis", "whose"), TABLES["communicators"])
def test_communicators_are_for_whom_the_model_gives_them_to(
    threads: int, transports: int, vcis: int, whose: str
) -> None:
    approach = Approach(MANY, transports, vcis)
    said = library("mpich-release").settings(approach, 2.0**20, threads, 64)
    assert said[-1] == f"{vcis} communicators, {whose}"
    shared = [len(m) for m in vci_members(approach, threads, contexts=1000)]
    assert len(shared) == vcis
    lanes = min(threads, transports)
    assert ("mod" in whose) == (lanes > vcis)  # somebody shares


@pytest.mark.parametrize(("name", "sent", "said"), TABLES["settings"])
def test_a_library_is_told_in_its_own_words(name: str, sent: Any, said: str) -> None:
    """64 KiB of 8 threads with 2 partitions each."""
    key, *counts = sent
    assert library(name).settings(Approach(BY_KEY[key], *counts), 65536.0, 8, 16) == said.split("\n")


@pytest.mark.parametrize(("version", "since", "before", "holds"), TABLES["facts"])
def test_a_fact_holds_in_its_versions(version: str, since: str, before: str, holds: bool) -> None:
    assert Fact("it is so", "read", since=since, before=before).holds(version) is holds
    fact = Fact("it is so", "read", do="mend it", since="5.0", before="5.1")
    said = {"": "it is so: mend it (from 5.0, before 5.1; read)", "5.0": "it is so: mend it (read)"}
    assert {v: fact.text(v) for v in said} == said


def test_a_library_is_named_with_its_version() -> None:
    assert library("openmpi-persist@5.0.11").full_name == "openmpi-persist@5.0.11"
    with pytest.raises(PreadyError, match="no version"):
        library("openmpi-persist@new")
    with pytest.raises(PreadyError, match='did you mean "openmpi-persist"'):
        library("openmpi-perzist@5.0.11")
    follows = r"; a version follows an @, as in openmpi-persist@5\.0\.6"
    for name, behind in (("openmpi-5.0.6", follows), ("mpi", ""), ("a@5.0.6", "")):
        with pytest.raises(PreadyError, match=f"is unknown.*valid: .*, {[*LIBRARIES][-1]}{behind}$"):
            library(name)


def test_what_a_port_has_to_know_is_said_in_order() -> None:
    assert library("mpich-6314").warnings[0] == "not released: it needs MPICH with pull request 6314"
    assert library("mpipcl").warnings == (
        "SET=n counts only with PMODE=HARD, and only if sender and receiver give both: "
        "pass the same MPI_Info to MPIP_Psend_init and MPIP_Precv_init",
        "PMODE=SENDER starts a thread at the receiver that calls MPI_Recv: "
        "ask for MPI_THREAD_MULTIPLE and leave it a core",
    )


def test_every_library_says_where_it_was_read() -> None:
    for profile in LIBRARIES.values():
        assert profile.source or profile.name == "emulated"
        for fact in profile.facts:
            assert re.search(r"#\d|/|@|Reference", fact.source)
            assert not re.search(r"#\d|src/|\w@", fact.says)
        assert not profile.needs or LIBRARIES[profile.installable].needs == ""
        assert profile.max_vcis == (64 if profile.vci_setting else 1)  # MPICH: MPIDI_CH4_MAX_VCIS


def test_where_parastation_was_early_it_sends_as_many_as_the_side_with_fewer_partitions_has() -> None:
    early = library("parastation").measured(early=True, why="measured")
    made = [early.transports([1, 2, 4, 8], 4, 8, received) for received in (None, 4, 2, 100)]
    assert made == [[4, 8], [4], [2], [4, 8]]


def test_what_is_unknown_is_predicted_as_if_nothing_were_early() -> None:
    intel = library("intel-mpi@2021.14")
    assert intel.early is None
    assert intel.part is PART_AM
    assert intel.transports([1, 8], threads=8, n_partitions=8) == [1]
    assert "unknown" in intel.why
    for early, counts in ((True, [8]), (False, [1])):
        known = intel.measured(early=early, why="measured")
        assert known.transports([1, 8], threads=8, n_partitions=8) == counts
        assert known.messages == ("per partition" if early else "one")
