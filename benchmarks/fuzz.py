"""Mutated files for every reader of files from elsewhere: none leaves an exception but `PreadyError`.

    python benchmarks/fuzz.py --count 1000000                # of each reader; --only otf2,osu
    python benchmarks/fuzz.py --capture run/ --count 1000000 # and of the files that `pready capture` wrote there
    python benchmarks/fuzz.py --otf2 scorep/traces.otf2      # and of each file of an OTF2 trace
    python benchmarks/fuzz.py --only imb --first 50000       # goes on from there; a case depends on seed and number

Not in `make test`: a million mutations of each take hours. A case that fails, computes for ten seconds, waits for a
hundred or asks for more than 4 GiB is written to --keep and ends the run with status 1. Measures no speed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from zlib import crc32

from pready.calibrate.capture.files import MAGIC, SUFFIX, read_run
from pready.calibrate.capture.step import find
from pready.calibrate.importers.collect import runs_of
from pready.calibrate.importers.to_machine import from_files
from pready.calibrate.measure.raw_file import read
from pready.calibrate.otf2 import otf2_reading
from pready.model.common.errors import PreadyError
from pready.model.machine import machine
from pready.model.workload import workload
from pready.whatif.kept import Kept

HERE = Path(__file__).resolve().parent.parent
MOST_S, MOST_BYTES = 10, 4 << 30
MACHINES = 50
"""A fit takes some fifty times as long as a file's reading."""
WORDS = [
    b"-1",
    b"0",
    b"1e400",
    b"nan",
    b"9" * 40,
    b"\x00",
    b"\xff\xfe",
    b"\x1b[31m",
    b"[",
    b"{",
    b'"',
    b"\n",
    b"=",
    b"1 us",
]
CSV = [
    b"# a comment\nbytes,latency_us,bandwidth_MB_s\n1,1.20,0.9\n1024,1.29,800\n1048576,90.38,11600\n",
    b"bytes,rate_per_s,pairs,ranks_per_node,placement\n8,4e6,4,4,between-nodes\n1024,3e6,4,4,between-nodes\n",
    b"size (bytes),iterations,latency (seconds)\n1,1000,1.3e-06\n8,1000,1.31e-06\n",
]
REFRAME = [
    b"2024-01-02|reframe 3.9|osu_latency on a:b using gnu|jobid=1|latency_8=1.2|ref=0 (l=null, u=null)|us\n"
    b"2024-01-02|reframe 3.9|osu_latency on a:b using gnu|jobid=1|latency_4096=2.5|ref=0 (l=null, u=null)|us\n"
    b"2024-01-02|reframe 3.9|osu_bw %size=65536 /1a2b @a:b+gnu|jobid=2|bw=9900.5|ref=0 (l=null, u=null)|MB/s\n",
    b"result|name|system|partition|environ|job_nodelist|latency_8_value|latency_8_unit|latency_64_value|latency_64_unit\n"
    b"pass|osu_latency|a|b|gnu|n[1-2]|1.2|us|1.25|us\nfail|osu_latency|a|b|gnu|n1,n2|null|us|nan|us\n",
    b"version,display_name,system,environ,bw_8_value,bw_8_unit\n4.2,osu_bw_test,a,gnu,9.5,MB/s\n",
    b"""{"session_info": {"version": "4.7"}, "runs": [{"testcases": [{"name": "osu_latency", "system": "a", "jobid": 7,
"job_nodelist": ["n1", "n2"], "perfvalues": {"a:b:latency_8": [1.2, 0, null, null, "us"], "a:b:latency_64": [1.3, 0,
null, null, "us"]}}, {"display_name": "imb", "executable": "IMB-MPI1", "executable_opts": ["PingPong"], "perfvars":
[{"name": "t_8", "value": 1.2, "unit": "us"}], "check_vars": {"num_tasks_per_node": 1, "message_size": 8}}]}]}""",
]
LOG = b"""srun: job 42 queued\n#SBATCH -N 2\nexport UCX_TLS=rc\n[0] == Inter-node ==
$ mpirun --mca pml ucx -np 2 --map-by node ./osu_latency\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.
# Size       Avg Latency(us)  P50 Tail Lat(us)  Validation\n1  1.25 1.20 Pass\n64  1.30 1.25 Pass\n\nwarning: 3 of 4
4096  2.50 2.40 Pass\n# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n4  9.00\n```\nreal 0m1.2s\n"""


def _import(path: Path) -> None:
    """All figures finite; those that are plausible make a machine, of which one in `MACHINES` is made."""
    runs, _ = runs_of(path.read_bytes(), str(path))
    assert all(math.isfinite(value) and value > 0 for run in runs for _, value in run.values)
    if crc32(path.read_bytes()) % MACHINES == 0:
        from_files([path], name="m")


def _kept(path: Path) -> None:
    kept = path.with_name("k.csv.points")
    path.replace(kept)
    Kept(path.with_name("k.csv"))


def _capture(captured: Path) -> tuple[Callable[[Path], object], list[bytes]]:
    """The first rank's file is mutated, the others are as they were."""
    first, *others = sorted(captured.glob(f"*{SUFFIX}"))

    def read_it(path: Path) -> None:
        folder = path.parent / "run"
        if not folder.exists():
            folder.mkdir()
            for other in others:
                shutil.copy(other, folder)
        path.replace(folder / first.name)
        find(read_run(folder))

    return read_it, [first.read_bytes()]


def _forked(reads: Callable[[], object]) -> None:
    """In a process that OTF2's library may end, as `read_otf2` has it; a fork begins a hundred times sooner."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, MOST_S)
        said = b""
        try:
            reads()
        except PreadyError as error:
            said = f"=({error})".encode()
        except BaseException:
            said = traceback.format_exc().encode()
        os.write(theirs, said[:60_000])
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as end:
        said = end.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        raise PreadyError(f"ended by signal {os.WTERMSIG(status)}")
    if said.startswith(b"=("):
        raise PreadyError(said.decode())
    if said:
        raise RuntimeError(said.decode())


def _otf2(anchor: Path) -> dict[str, tuple[Callable[[Path], object], list[bytes]]]:
    """By file of the trace: it is mutated, the others are as they were."""

    def reader_of(name: Path) -> Callable[[Path], object]:
        def read_it(path: Path) -> None:
            trace = path.parent / "trace"
            if not trace.exists():
                shutil.copytree(anchor.parent, trace)
            path.replace(trace / name)
            _forked(lambda: find(otf2_reading.run_here(trace / anchor.name)[0]))

        return read_it

    otf2_reading.run_here(anchor)  # what it imports, each fork has
    files = anchor, *anchor.parent.glob(f"{anchor.stem}.def"), *sorted(anchor.with_suffix("").glob("*"))
    names = [file.relative_to(anchor.parent) for file in files]
    return {f"otf2/{name}": (reader_of(name), [(anchor.parent / name).read_bytes()]) for name in names}


def readers(captured: Path | None, anchor: Path | None) -> dict[str, tuple[Callable[[Path], object], list[bytes]]]:
    """By name: what reads a file, and files that it reads."""
    data = HERE / "tests/data/importers"
    named = {p.name: p.read_bytes() for p in sorted(data.rglob("*")) if p.is_file()}

    def of(*words: str) -> list[bytes]:
        return [content for name, content in named.items() if any(w in name.lower() for w in words)]

    found: dict[str, tuple[Callable[[Path], object], list[bytes]]] = {
        "machine": (machine.load, [p.read_bytes() for p in sorted((HERE / "model/machine/profiles").glob("*.toml"))]),
        "workload": (workload.load, [p.read_bytes() for p in sorted((HERE / "examples").glob("*.toml"))]),
        "osu": (_import, of("osu")),
        "imb": (_import, of("imb")),
        "netgauge": (_import, of("netgauge", "ng_", "loggp")),
        "csv": (_import, CSV),
        "reframe": (_import, REFRAME),
        "log": (_import, [LOG, LOG.replace(b"\n", b"\r\n"), LOG.replace(b"\n", b"\n[1,0]<stdout>:")]),
        "records": (read, [p.read_bytes()[:40_000] for p in sorted((HERE / "tests/calibrate/data").glob("*.jsonl"))]),
        "points": (_kept, [b'{"point": "a", "rows": [{"eta": 1.0}]}\n{"point": "b", "rows": []}\n']),
    }
    if captured is not None:
        found["capture"] = _capture(captured)
    if anchor is not None:
        found |= _otf2(anchor)
    return {name: (reader, seeds) for name, (reader, seeds) in found.items() if seeds}


@cache
def _used(content: bytes) -> list[int]:
    return [at for at in range(0, len(content), 8) if any(content[at : at + 8])]


def mutated(content: bytes, draw: random.Random) -> bytes:
    """One to four edits: bytes flipped, cut, doubled, moved, or a word put in."""
    out = bytearray(content)
    if content.startswith(MAGIC):  # mostly zeros, at fixed places: others are only bytes that it does not read
        used = _used(content)
        for at in draw.choices(used, k=draw.randint(1, 4)):
            out[at : at + 8] = draw.choice((bytes(8), b"\xff" * 8, draw.randbytes(8), (1 << 40).to_bytes(8, "little")))
        return bytes(out)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(out) + 1)
        end = min(len(out), at + draw.choice((1, 2, 8, 64, 1024)))
        match draw.randrange(6):
            case 0 if at < len(out):
                out[at] ^= 1 << draw.randrange(8)
            case 1:
                del out[at:end]
            case 2:
                out[at:at] = out[at:end]
            case 3:
                out[at:at] = draw.choice(WORDS)
            case 4:
                out[at:end] = draw.choice(WORDS)
            case 5:
                out[at:end] = bytes(draw.randrange(256) for _ in range(end - at))
    return bytes(out)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"computes for {MOST_S} s, or waits for {10 * MOST_S} s")


def fuzz(
    name: str, reader: Callable[[Path], object], seeds: list[bytes], numbers: range, seed: int, keep: Path
) -> bool:
    """Read mutated files; True if each was read or refused in one printable line."""
    refused, begun = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        for number in numbers:
            draw = random.Random(f"{name} {seed} {number}")
            content = mutated(draw.choice(seeds), draw)
            path = Path(made) / f"x{'.toml' if name in ('machine', 'workload') else ''}"
            path.write_bytes(content)
            signal.setitimer(signal.ITIMER_PROF, MOST_S)
            signal.alarm(10 * MOST_S)  # a child's computing is not counted
            try:
                reader(path)
            except PreadyError as error:
                refused += 1
                if not str(error).isprintable():
                    return _fails(name, number, content, keep, f"unprintable: {str(error)!r}")
            except Exception:
                return _fails(name, number, content, keep, traceback.format_exc())
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.alarm(0)
    print(f"{name}: {len(numbers)} files, {refused} refused, {time.monotonic() - begun:.0f} s", flush=True)
    return True


def _fails(name: str, number: int, content: bytes, keep: Path, why: str) -> bool:
    keep.mkdir(parents=True, exist_ok=True)
    path = keep / f"{name.replace('/', '-')}-{number}"
    path.write_bytes(content)
    print(f"{name}: case {number}, kept in {path}\n{why}", flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=1_000_000, help="mutations of each reader's files (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (%(default)s)")
    parser.add_argument("--only", help="comma-separated readers")
    parser.add_argument("--capture", type=Path, help="folder of a captured run")
    parser.add_argument("--otf2", type=Path, help="anchor file of a trace")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzzed"), help="folder for files that fail (%(default)s)")
    given = parser.parse_args()
    every = readers(given.capture, given.otf2)
    chosen = given.only.split(",") if given.only else [*every]
    if unknown := set(chosen) - set(every):
        parser.error(f"--only {','.join(sorted(unknown))}, valid: {', '.join(every)}")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for which in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(which, _too_long)
    print(f"seed {given.seed}")
    numbers = range(given.first, given.first + given.count)
    ended = [fuzz(name, *every[name], numbers, given.seed, given.keep) for name in chosen]
    return 0 if all(ended) else 1


if __name__ == "__main__":
    sys.exit(main())
