"""What is known of MPI libraries' partitioned calls by version: bugs, settings, properties, each with its source.

Read in the libraries' sources and issues, or seen in their releases. A range of versions is given only as far as it
was read or seen.
"""

from __future__ import annotations

from pready.model.approach.library_profile import Fact

MPICH: tuple[Fact, ...] = (
    Fact(
        "MPI_PROC_NULL in MPI_Psend_init crashes",
        "seen in 5.0.2; src/mpid/ch4/src/mpidig_part.c treats it in no release",
        do="call neither MPI_Psend_init nor MPI_Precv_init at an open boundary",
    ),
    Fact(
        "every partitioned call aborts if MPICH was built for ch3",
        "src/mpid/ch3/src/mpid_part.c",
        do="'mpichversion' names the device: use a ch4 build",
        bug=False,
    ),
    Fact(
        "MPIR_CVAR_CH4_NUM_VCIS=n: n VCIs, a communicator each, round-robin", "src/mpid/ch4/src/ch4_init.c", bug=False
    ),
    Fact(
        "MPIR_CVAR_CH4_RESERVE_VCIS=n: n more VCIs, for MPIX streams",
        "src/mpid/ch4/src/ch4_init.c",
        bug=False,
        since="4.1",
    ),
    Fact(
        "MPIR_CVAR_CH4_GLOBAL_PROGRESS=1 (default): a thread in MPI makes progress for all VCIs, once in 256 polls",
        "pmodels/mpich v4.0 to v5.0.1 src/mpid/ch4/src/ch4_progress.h, MPIDI_CH4_PROG_POLL_MASK",
        bug=False,
        before="5.1",
    ),
    Fact(
        "MPIR_CVAR_CH4_GLOBAL_PROGRESS=normal (default): a thread in MPI makes progress for all VCIs, once in 256 "
        "polls; high: in every other one; low: hardly ever",
        "pmodels/mpich main of 2026-08-20 (5.1.0a1) src/mpid/ch4/src/ch4_progress.h",
        bug=False,
        since="5.1",
    ),
    Fact(
        "an active message between nodes is copied on both sides over UCX",
        "pmodels/mpich v4.1.3 src/mpid/ch4/netmod/ucx/ucx_init.c, UCP_AM_FLAG_WHOLE_MSG",
        bug=False,
        before="4.2",
    ),
    Fact(
        "an active message is copied by nobody over UCX, below 16 KiB on both sides over OFI, always within a node",
        "pmodels/mpich v4.2.0 to v5.0.1 src/mpid/ch4/netmod/ucx/ucx_am.h, netmod/ofi/ofi_am.h, shm/posix/posix_am.h",
        bug=False,
        since="4.2",
    ),
    Fact("MPIR_CVAR_ASYNC_PROGRESS=1: a progress thread", "src/mpi/init/init_async.c", bug=False),
)

OPEN_MPI: tuple[Fact, ...] = (
    Fact(
        "MPI_Startall on partitioned requests hangs with several neighbours",
        "open-mpi/ompi#12969; in 5.0.11; part_persist.h up to main of 2026-08-21 counts two loops with one variable",
        do="start each request with MPI_Start",
    ),
    Fact(
        "MPI_PROC_NULL in MPI_Psend_init reads out of bounds",
        "open-mpi/ompi@e3b813fc4a",
        do="call neither MPI_Psend_init nor MPI_Precv_init at an open boundary",
        before="5.0.11",
    ),
    Fact(
        "different numbers of partitions at sender and receiver can deadlock",
        "open-mpi/ompi#10459",
        do="use the same number at both",
    ),
    Fact(
        "with different numbers of partitions at the two ends MPI_Parrived looks at the wrong ones: it may say so too "
        "early, or never",
        "ompi/mca/part/persist/part_persist.h, mca_part_persist_parrived; polling it hangs in 5.0",
        do="use the same number at both",
    ),
    Fact(
        "after MPI_Request_free of a request that never started, the next with its tag hangs",
        "open-mpi/ompi#14155; seen in 5.0.11",
        do="start and complete each request at least once",
    ),
    Fact(
        "after a second MPI_Start, MPI_Test may say complete at once",
        "open-mpi/ompi#12328",
        do="use MPI_Wait",
    ),
    Fact("races between threads in part/persist", "open-mpi/ompi#12935"),
    Fact(
        "the progress function of part/persist costs time in programs that never use it",
        "open-mpi/ompi#12012: 17 % of cycles on Summit",
        do="--mca part ^persist where partitioned calls are not used",
    ),
    Fact(
        "the first iteration of a request is often not early: sends wait for its handshake",
        "ompi/mca/part/persist/part_persist.h",
        bug=False,
    ),
    Fact(
        "progress and set-up take the component's mutex, MPI_Pready does not",
        "ompi/mca/part/persist/part_persist.h",
        bug=False,
    ),
    Fact(
        "over OFI: mtl_ofi_enable_sep and mtl_ofi_num_ctxts give threads contexts of their own",
        "ompi/mca/mtl/ofi",
        bug=False,
    ),
)

OPEN_MPI_13039 = Fact(
    "part_persist_min_message_size (512 B) and part_persist_max_message_count (4096) aggregate partitions",
    "open-mpi/ompi#13039 at df918fcf",
    bug=False,
)
OPEN_MPI_12796 = Fact(
    "MPI_Psend_init and MPI_Precv_init block until both sides have called them",
    "open-mpi/ompi#12796",
    do="call them in the same order at both",
)

MPIPCL: tuple[Fact, ...] = (
    Fact(
        "SET=n counts only with PMODE=HARD, and only if sender and receiver give both",
        "mpipcl library/source/setup.c",
        do="pass the same MPI_Info to MPIP_Psend_init and MPIP_Precv_init",
    ),
    Fact(
        "PMODE=SENDER starts a thread at the receiver that calls MPI_Recv",
        "mpipcl library/source/setup.c",
        do="ask for MPI_THREAD_MULTIPLE and leave it a core",
    ),
    Fact("its functions are MPIP_*, not MPI_*", "mpipcl@80f90d5 (August 2025)", bug=False),
)

PARASTATION: tuple[Fact, ...] = (
    Fact(
        "as many messages as the side with fewer partitions has",
        "mpich2/src/mpid/psp/src/mpid_part.c",
        bug=False,
    ),
    Fact(
        "every MPI_Start waits for a clear-to-send; MPI_Parrived tells of the whole request only",
        "mpich2/src/mpid/psp/src/mpid_part.c",
        bug=False,
    ),
    Fact(
        "MPI_Pready sends only if the clear-to-send was seen, and sees none itself",
        "ParaStation/psmpi @00497007 mpich2/src/mpid/psp/src/mpid_part.c, MPID_part_send_if_ready, read on 2026-11-28",
        do="have a thread in MPI meanwhile, such as one that polls MPI_Test",
    ),
)

INTEL: tuple[Fact, ...] = (
    Fact(
        "thread-split: I_MPI_THREAD_SPLIT=1 and I_MPI_THREAD_MAX=n give n threads an endpoint each",
        "Intel MPI Developer Reference, Environment Variables for Multi-EP",
        bug=False,
    ),
)
