"""Made-up results in the layouts of OSU, IMB and others: 1.2 us and 84 ns per KiB unless a test says otherwise."""

from collections.abc import Callable, Sequence

from pready.calibrate.importers.collect import Imported, runs_of, together

SIZES = [1 << k for k in range(23)]
Time = Callable[[int], float]


def us(size: float) -> float:
    """Half a round trip."""
    return 1.2 + 84e-3 * size / 1024


def gap(size: float) -> float:
    """Of a stream, in us."""
    return 0.15 + 80e-3 * size / 1024


def times_of(slower: float) -> Time:
    return lambda size: slower * us(size)


def osu(title: str, column: str, rows: str, said: str = "", version: str = " v7.4") -> str:
    return f"# OSU MPI{title} Test{version}\n{said}# Size          {column}\n{rows}"


def latency(time: Time = us, sizes: Sequence[int] = SIZES, said: str = "", build: str = "") -> str:
    return osu(f"{build} Latency", "Latency (us)", "".join(f"{s:<10d}{time(s):>18.2f}\n" for s in sizes), said)


def bandwidth(time: Time = gap, title: str = " Bandwidth", messages: int = 1) -> str:
    return osu(title, "Bandwidth (MB/s)", "".join(f"{s:<10d}{messages * s / time(s):>18.2f}\n" for s in SIZES))


def pairs(count: int, time: Time = gap) -> str:
    rows = "".join(f"{s:<10d}{count * s / time(s):>18.2f}{count * 1e6 / time(s):>18.2f}\n" for s in SIZES)
    title = " Multiple Bandwidth / Message Rate"
    return osu(title, "MB/s        Messages/s", rows, f"# [ pairs: {count} ] [ window size: 64 ]\n")


def imb(time: Time = us, test: str = "PingPong", said: str = "", sizes: Sequence[int] = SIZES) -> str:
    rows = "".join(f"{s:>13d}{1000:>13d}{time(s):>13.2f}{s / time(s):>13.2f}\n" for s in sizes)
    rule = f"#{'-' * 51}\n"
    head = f"{rule}# Benchmarking {test} \n# #processes = 2 \n{said}{rule}"
    return f"{head}       #bytes #repetitions      t[usec]   Mbytes/sec\n{rows}"


def read(data: bytes, source: str = "input") -> Imported:
    """The runs in a file as one machine's."""
    return together(*runs_of(data, source))
