"""Files that users already have, as plain arrays in SI units.

    osu.py        OSU's tests of two ranks            noise.py        noise traces
    imb.py        IMB PingPong                        mpip.py         mpiP reports
    netgauge.py   Netgauge LogGP                      bench_pcomm.py  gillis2023's results
    text.py       how a file is read and refused      benchmarks.py   the result of an importer

Each has `import_x(path)` and `parse_x(bytes, source)`. Every fault of a file is an
ImportFormatError, one line.
"""

from __future__ import annotations

from pathlib import Path

from pready.calibrate.importers.bench_pcomm import BenchPcomm, import_bench_pcomm, parse_bench_pcomm
from pready.calibrate.importers.benchmarks import Beside, Imported, combine
from pready.calibrate.importers.imb import import_imb, parse_imb
from pready.calibrate.importers.mpip import MpiPReport, SentMessages, import_mpip, parse_mpip
from pready.calibrate.importers.netgauge import import_netgauge, parse_netgauge
from pready.calibrate.importers.noise import NoiseTrace, import_noise, parse_noise
from pready.calibrate.importers.osu import import_osu, parse_osu
from pready.calibrate.importers.text import ImportFormatError, Provenance, lines, read

__all__ = [
    "BenchPcomm",
    "Beside",
    "ImportFormatError",
    "Imported",
    "MpiPReport",
    "NoiseTrace",
    "Provenance",
    "SentMessages",
    "combine",
    "import_bench_pcomm",
    "import_benchmark",
    "import_imb",
    "import_mpip",
    "import_netgauge",
    "import_noise",
    "import_osu",
    "parse_bench_pcomm",
    "parse_imb",
    "parse_mpip",
    "parse_netgauge",
    "parse_noise",
    "parse_osu",
]

_BENCHMARKS = (
    ("OSU MPI", parse_osu),
    ("Benchmarking PingPong", parse_imb),
    ("PRTT(1,0,s)", parse_netgauge),
)


def import_benchmark(path: str | Path) -> Imported:
    """Reads OSU, IMB or Netgauge output, told apart by its title.

    Raises
    ------
    ImportFormatError
        None of the three, or an error of that format's importer.
    """
    data = read(path)
    text = [line.text for line in lines(data, str(path))]
    for mark, parse in _BENCHMARKS:
        if any(mark in line for line in text):
            return parse(data, str(path))
    raise ImportFormatError(
        "is no benchmark output that can be read",
        valid="OSU, IMB PingPong or Netgauge LogGP",
        source=str(path),
    )
