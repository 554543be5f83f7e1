"""Files that are of no use here: benchmarks of what is below MPI, and records of applications; named, with what is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pready.calibrate.importers.benchmarks import Measured
from pready.calibrate.importers.formats import WHOLE_FILES, WholeFile
from pready.calibrate.importers.text import ImportFormatError

_BELOW = {
    "fabtests (fi_pingpong, fi_rdm_pingpong)": re.compile(
        r"^[ \t]*bytes[ \t]+(?:#sent[ \t]+#ack|iters)[ \t]+total", re.M
    ),
    "ucx_perftest": re.compile(r"overhead \(usec\)|latency \(usec\)\s*\|\s*bandwidth", re.M),
    "perftest (ib_write_bw, ib_send_lat)": re.compile(
        r"#bytes\s+#iterations\s+(?:BW peak|t_min)|(?:RDMA_)?(?:Send|Write|Read) (?:\w+ )?(?:BW|Latency) Test"
    ),
    "NetPIPE": re.compile(r"^[ \t]*\d+:[ \t]+\d+[ \t]+(?:bytes|B)[ \t]+\d+ times -->", re.M),
    "NCCL's tests": re.compile(r"nccl-tests|# nThread \d+ nGpus", re.I),
    "iperf": re.compile(r"iperf|^\[ *ID\] Interval", re.M),
}
_RECORDS = {
    "an mpiP report": re.compile(r"^\s*@ mpiP\b"),
    "of Caliper": re.compile(r"^__rec=|Sends \((?:max|total)\)"),
}
_TITLE = re.compile(r"#\s*(?:OSU|OMB|Benchmarking)\b")


def _which(text: str, kinds: Mapping[str, re.Pattern[str]]) -> str:
    return next((name for name, mark in kinds.items() if mark.search(text)), "")


def record_of_application(text: str) -> str:
    """Which other tool's record of an application this is, such as "an mpiP report"; "": none that is known."""
    return _which(text, _RECORDS)


def _read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    if found := record_of_application(text):
        valid = "results of osu_latency and osu_bw; for the application, pready capture"
        raise ImportFormatError(f"is {found}, of an application and not of a machine", valid=valid, source=source)
    raise ImportFormatError(
        f"is of {_which(text, _BELOW)}, which measures below MPI: no overheads and protocols of an MPI library",
        valid="osu_latency and osu_bw between the same two nodes",
        source=source,
    )


def _recognised(text: str) -> bool:
    return bool(record_of_application(text) or (not _TITLE.search(text) and _which(text, _BELOW)))


WHOLE_FILES.append(WholeFile(_recognised, _read))
