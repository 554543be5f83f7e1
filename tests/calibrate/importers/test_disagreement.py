"""Runs of one thing that disagree are two machines: named, and refused unless --take says which."""

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import refused
from given import Capsys
from present import present
from results_of_suites import SIZES, Time, bandwidth, imb, latency, pairs, read, times_of, us

from pready.calibrate.importers.collect import collected, why_one_node
from pready.calibrate.importers.text import ImportFormatError
from pready.cli import main


def written(folder: Path, **files: str) -> list[Path]:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [folder / name.replace("__", "/") for name in files]


@pytest.mark.parametrize("slower", [1.0, 1.09, 1 / 1.09])
def test_runs_that_agree_are_one(slower: float) -> None:
    found = read((latency(times_of(10)) + latency(times_of(10 * slower))).encode())
    assert [len(r) for r in present(found.observations.ping_pong).repeats] == [2] * len(SIZES)
    assert "2 runs of osu_latency agree: their medians were used" in found.notes


@pytest.mark.parametrize("slower", [1.12, 1 / 1.12, 15.0])
@pytest.mark.parametrize(("first", "other"), [(latency, latency), (latency, imb), (imb, imb)])
def test_runs_that_disagree_are_two(slower: float, first: Any, other: Any) -> None:
    """Of one test or of two that measure the same, at however many sizes; both are named by their lines."""
    text = first(times_of(10)) + other(times_of(10 * slower))
    with pytest.raises(ImportFormatError, match=r"two runs of .* differ at .*f:\d+.*f:\d+.*--take TEXT"):
        read(text.encode(), "f")


def test_one_size_is_enough() -> None:
    """A rendezvous that begins a size sooner is another setting."""
    sooner, later = (latency(lambda s, at=at: us(s) * (1.3 if s >= at else 1)) for at in (4096, 8192))  # type: ignore[misc]
    with pytest.raises(ImportFormatError, match="differ at 4 KiB"):
        read((sooner + later).encode())


def test_what_a_runs_own_scatter_explains_is_no_difference() -> None:
    """A message that takes longer than the next larger one was disturbed: the run says so itself."""
    disturbed = latency(lambda s: us(s) * (1.5 if s == 8 else 1))
    found = present(read((latency() + disturbed + latency()).encode()).observations.ping_pong)
    assert found.medians[8] == pytest.approx(us(8) * 1e-6, rel=0.01)  # of three the median
    # Of many sizes it explains none: there a mean of all is wrong.
    with pytest.raises(ImportFormatError, match=r"differ"):
        read((latency() + latency(lambda s: 20 * us(s) if s < 8 else 12 * us(s))).encode())


def test_rates_of_pairs_disagree_too() -> None:
    with pytest.raises(ImportFormatError, match=r"two of 3 runs of osu_mbw_mr differ at .*/s .*/s"):
        read((latency() + pairs(4) + pairs(4) + pairs(4, lambda s: 0.5 * us(s))).encode())
    assert len(read((latency() + pairs(4) + pairs(8)).encode()).pair_rates) == 2


TELLS = {
    "file": ({"one.out": "", "other.out": ""}, ("one.out", "other.out")),
    "folder": ({"alps__r": "", "eiger__r": ""}, ("alps/r", "eiger/r")),
    "heading": ({"x": "Cluster A:\n", "y": "Cluster B:\n"}, ("Cluster A:", "Cluster B:")),
    "Markdown heading": ({"x": "## On Alps\n\n", "y": "## On Eiger\n\n"}, ("## On Alps", "## On Eiger")),
    "command": ({"x": "$ srun -N2 ./osu_latency -i 9\n", "y": "$ srun -N2 ./osu_latency -i 8\n"}, ("-i 9", "-i 8")),
    "container": (
        {"x": "$ srun -N2 apptainer run a.sif ./osu_latency\n", "y": "$ srun -N2 apptainer run b.sif ./osu_latency\n"},
        ("a.sif", "b.sif"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TELLS)
@pytest.mark.parametrize("together", [False, True])
def test_what_tells_them_apart_is_named_and_takes_one(what: str, together: bool, tmp_path: Path) -> None:
    """As two files of a folder, or concatenated; the text that the refusal gives takes one of the runs."""
    before, said = TELLS[what]
    slower = iter((1.0, 3.0))
    files = {name: text + latency(times_of(next(slower))) for name, text in before.items()}
    if together and "x" in files:
        files = {"log": "\n\n".join(files.values())}
    written(tmp_path, **files)
    with pytest.raises(ImportFormatError) as caught:
        collected([tmp_path])
    assert all(word in str(caught.value) for word in said)
    (such,) = re.findall(r"such as '(.*)'$", str(caught.value))
    assert len(collected([tmp_path], take=[such])[0].runs) == 1
    assert len({collected([tmp_path], take=[word])[0].runs[0].values for word in said}) == 2


PLACES = {
    "in the file's name": ("PingPong_1nodes_intranode.out", "PingPong_2nodes_internode.out"),
    "in the folder's name": ("intra/run.out", "inter/run.out"),
    "of one of them": ("osu_single_node.txt", "osu.txt"),
    "of cores": ("different_cores.log", "different_nodes.log"),
    "of sockets": ("03_osu_diff_socket.log", "03_osu_diff_node.log"),
    "as the file": ("cores.log", "nodes.log"),
    "as the folder": ("sockets/1.log", "nodes/2.log"),
    "of ReFrame's checks": ("OSULatencyTestSameNuma/rfm_job.out", "OSULatencyTestInterNode/rfm_job.out"),
}


@pytest.mark.parametrize("where", PLACES)
def test_two_placements_are_never_mixed(where: str, tmp_path: Path) -> None:
    """Not even where each has another test, or their figures agree; alone, the one within a node is no network."""
    near, far = PLACES[where]
    for close, away in ((latency(), latency()), (latency(), bandwidth()), (bandwidth(), latency())):
        written(tmp_path / "runs", **{near.replace("/", "__"): close, far.replace("/", "__"): away})
        with pytest.raises(ImportFormatError, match="two placements, within a node and between nodes") as caught:
            collected([tmp_path / "runs"])
        assert near in str(caught.value)
        assert far in str(caught.value)
    with pytest.raises(ImportFormatError, match=r"says within a node.*--intra"):
        collected([tmp_path / "runs" / near])
    assert collected([tmp_path / "runs" / near], one_node=True)[0].runs


BOUND = {
    "one host": ("[n1:77] MCW rank {} bound to socket 0[core {}[hwt 0]]: [B/.]\n", "its ranks were bound on n1 alone"),
    "two hosts": ("[n{}:77] Rank {} bound to package[0][core:0]\n", ""),
    "one node of a map": (" Data for node: n1   Num slots: 2   Max slots: 0\n", "its ranks were bound on n1 alone"),
    "two nodes of a map": (" Data for node: n{}   Num slots: 2   Max slots: 0\n", ""),
}
SHARED = [
    ("-x UCX_TLS=posix", "-x UCX_TLS=posix,rc"),
    ("--mca btl self,vader", "--mca btl self,tcp"),
    ("-genv I_MPI_FABRICS shm", "-genv I_MPI_FABRICS shm:ofi"),
    ("-x UCX_TLS=sm,self", "-x UCX_TLS=rc,sm,self"),
]


@pytest.mark.parametrize("what", BOUND)
def test_where_a_launcher_bound_the_ranks(what: str) -> None:
    line, said = BOUND[what]
    text = f"mpirun -np 2 --report-bindings ./osu_latency\n{line.format(1, 0)}{line.format(2, 1)}\n{latency()}"
    assert why_one_node(read(text.encode()).runs) == said


@pytest.mark.parametrize(("setting", "both"), SHARED)
def test_memory_that_ranks_share_is_no_network(setting: str, both: str) -> None:
    text = f"mpirun -np 2 {setting} ./osu_latency\n{latency()}"
    assert "is memory that ranks of a node share" in why_one_node(read(text.encode()).runs)
    assert why_one_node(read(text.replace(setting, both).encode()).runs) == ""


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("openmpi/latency", "mpich/bw", "libraries, Open MPI and MPICH"),
        ("impi2021/latency", "mvapich2/bw", "libraries"),
        ("latency_tcp", "bw_verbs", "networks, TCP and InfiniBand"),
    ],
)
def test_two_libraries_or_networks_are_never_mixed(one: str, other: str, what: str, tmp_path: Path) -> None:
    written(tmp_path, **{one.replace("/", "__"): latency(), other.replace("/", "__"): bandwidth()})
    with pytest.raises(ImportFormatError, match=f"runs of two {what}"):
        collected([tmp_path])


@pytest.mark.parametrize(("first", "second"), [
    ("export FI_PROVIDER=cxi\n$ srun", "export FI_PROVIDER=tcp\n$ srun"),
    ("module load openmpi\nsrun", "module load mpich\nsrun"),
    ("/opt/a/bin/mpirun \\\n", "/opt/b/bin/mpirun \\\n"),
    ("mpirun --mca pml ob1", "mpirun --mca pml ucx"),
    ("srun --environment=fast", "srun --environment=slow"),
])  # fmt: skip
@pytest.mark.parametrize("tests", [(latency, latency), (latency, bandwidth)])
def test_settings_before_a_command_are_its_own(first: str, second: str, tests: tuple[Any, Any]) -> None:
    text = "".join(f"{said} -n 2 ./osu_x\n{test()}\n" for said, test in zip((first, second), tests, strict=True))
    with pytest.raises(ImportFormatError, match=r"two (settings|libraries)"):
        read(text.encode())


# --- the documented CSV ---------------------------------------------------------------------------------


def csv_of(*columns: str, pairs: int = 0, ranks: int = 0, place: str = "") -> str:
    says: dict[str, Time] = {
        "latency_us": us,
        "bandwidth_MB_s": lambda s: s / us(s),
        "rate_per_s": lambda s: 1e6 / us(s),
    }
    more = {"pairs": str(pairs or ""), "ranks_per_node": str(ranks or ""), "placement": place}
    names = ["bytes", *columns, *(name for name, value in more.items() if value)]
    rows = [",".join([str(s), *(f"{says[c](s):.6f}" for c in columns), *filter(None, more.values())]) for s in SIZES]
    return "\n".join([",".join(names), *rows, ""])


def test_the_documented_csv() -> None:
    found = read(csv_of("latency_us", "bandwidth_MB_s").encode())
    for curve in (found.observations.ping_pong, found.observations.stream):
        assert present(curve).medians == pytest.approx({s: us(s) * 1e-6 for s in SIZES}, rel=1e-4)
    assert found.window == 64
    for text in (csv_of("rate_per_s", pairs=4, ranks=4), csv_of("bandwidth_MB_s", pairs=4, place="between-nodes")):
        assert read(text.encode()).pair_rates[4].medians == pytest.approx({s: 1e6 / us(s) for s in SIZES}, rel=1e-3)


@pytest.mark.parametrize("text", [csv_of("latency_us", place="within-node"), csv_of("latency_us", ranks=2)])
def test_a_csv_says_where_it_ran(text: str, tmp_path: Path) -> None:
    (path,) = written(tmp_path, f=text)
    with pytest.raises(ImportFormatError, match=r"on one node: its placement or ranks_per_node says so.*--intra"):
        collected([path])
    assert collected([path], one_node=True)[0].observations.ping_pong is not None


BAD_CSV = [
    ("bytes,lat_us\n8,1.2\n", "without its test's name"),
    ("bytes,latency_us,lib\n8,1.2,a\n", "f:1: column = 'lib'; valid: each once of bytes, latency_us, bandwidth_MB_s"),
    ("bytes,latency_us,latency_us\n8,1.2,1\n", "f:1: column = 'latency_us'; valid: each once"),
    ("bytes,pairs\n8,2\n", "f:1: no column of a time or a rate"),
    ("bytes,latency_us\n8,1,2\n", "f:2: row '8,1,2' has 3 of 2 columns"),
    ("bytes,latency_us\n1K,1.2\n", "f:2: bytes = '1K'; valid: a whole number"),
    ("bytes,latency_us\n8,1.2 us\n", "f:2: latency_us = '1.2 us'; valid: a finite number"),
    ("bytes,latency_us\n8,1.2\n16,1.", "f:3: row '16,1.' has no line end and may be cut off"),
    ("bytes,latency_us,pairs\n8,1.2,4\n", "f:2: pairs = 4 of a latency_us"),
    ("bytes,bandwidth_MB_s\n0,1.2\n", "f:2: bytes = 0 has no bandwidth"),
    ("bytes,latency_us,placement\n8,1.2,far\n", "f:2: placement = 'far'; valid: between-nodes or within-node"),
    ("bytes,latency_us,placement,ranks_per_node\n8,1.2,between-nodes,2\n", "f:2: placement = 'between-nodes'; valid:"),
    ("bytes,rate_per_s,pairs,ranks_per_node\n8,1e6,4,3\n", "f:2: ranks_per_node = 3 of 8 ranks; valid: 4 on each"),
    ("# a comment\x0bbytes,latency_us\x0b8,1.2", "f: has no title"),
    ("bytes,latency_us\n", "f:1: no rows follow the header"),
    ("bytes,latency_us\n8,1.2\n8,1.4\n", "two runs of osu_latency differ at 8 B: 1.2 us (f:2), 1.4 us (f:3)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), BAD_CSV)
def test_a_csv_that_is_not_exactly_so(text: str, says: str) -> None:
    with pytest.raises(ImportFormatError) as caught:
        read(text.encode(), "f")
    assert says in str(caught.value)


def test_the_example_is_printed_and_read_again(tmp_path: Path, capsys: Capsys) -> None:
    assert main(["calibrate", "import", "--example"]) == 0
    (path,) = written(tmp_path, my=capsys.readouterr().out)
    assert main(["calibrate", "import", str(path), "-o", str(tmp_path / "m.toml")]) == 0
    assert "reproduces" in capsys.readouterr().err
    assert "-o is missing" in refused(capsys, "calibrate", "import", str(path))


def test_a_record_of_ours_is_read_by_itself(tmp_path: Path, capsys: Capsys) -> None:
    record = "tests/calibrate/data/contention-mpich.jsonl"
    words = ("calibrate", "import", record, "-o", str(tmp_path / "m.toml"))
    for more in (("--library", "mpich-release"), ("--take", "x"), (record,)):
        said = refused(capsys, *words, *more)
        assert "beside a record of 'pready calibrate'; valid: the record alone" in said
    # It was read: contention alone.
    assert "nothing says how long one message takes" in refused(capsys, *words)
