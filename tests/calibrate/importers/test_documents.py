"""Results as documents keep them: among text, and beside runs on GPUs or within a node. The figures are ours."""

import re
from pathlib import Path

import pytest
from present import present
from tables import table_of

from pready.calibrate.importers import ImportFormatError
from pready.calibrate.importers import read as parse
from pready.calibrate.importers.collect import collected
from pready.calibrate.importers.to_machine import from_files

ON_HOSTS = "# Send Buffer on HOST (H) and Receive Buffer on HOST (H)"
ON_GPUS = "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"


def latency(slower: float = 1.0, build: str = "", buffers: str = "") -> str:
    """1 us and 0.1 ns/B, or `slower` times as long."""
    rows = [f"{s:<10d}{slower * (1.0 + 1e-4 * s):>18.2f}" for s in (8, 1024, 65536)]
    said = [buffers] if buffers else []
    return "\n".join([f"# OSU MPI{build} Latency Test v7.3", *said, "# Size          Latency (us)", *rows, ""])


def times(text: str) -> list[float]:
    found = present(parse(text.encode()).observations.ping_pong)
    return [round(1e6 * t, 2) for t in found.medians.values()]


ALONE = times(latency())


@pytest.mark.parametrize("after", table_of("calibrate/documents")["after"])
def test_text_after_a_table_is_no_row(after: str) -> None:
    assert times(latency() + after) == ALONE
    assert times(f"# A report\n1. 4 nodes\n{latency()}{after}\n{latency()}") == ALONE


@pytest.mark.parametrize("before", ["", "\nmpirun: a warning\n"])
@pytest.mark.parametrize("damaged", ["1Q", "-5", "20,48"])
def test_a_damaged_row_is_refused_within_a_table(damaged: str, before: str) -> None:
    with pytest.raises(ImportFormatError, match=re.escape(damaged)):
        parse(f"{latency()}{before}{damaged}                  4.00\n".encode())


def test_rows_after_a_launchers_message_are_rows() -> None:
    whole = latency().splitlines()
    assert times("\n".join([*whole[:3], "", "mpirun: a warning", *whole[3:], ""])) == ALONE


def test_text_after_imbs_table_is_no_row() -> None:
    table = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n1000 1000 2.00 500.00\n"
    found = parse(
        (table + "1. Submit the job:\n2. 4 nodes\n\n1. Submit the job:\n2. 4 nodes\n- or this\n" + table).encode()
    )
    assert present(found.observations.ping_pong).medians == {1000: pytest.approx(2e-6)}


def test_buffers_of_gpus_are_not_mixed_with_those_of_hosts() -> None:
    """Whichever comes first; a build for GPUs that says that its buffers are on hosts counts as these."""
    on_gpus = latency(9.0, "-CUDA")
    for text in (
        latency() + on_gpus,
        on_gpus + latency(),
        latency(9.0, "-CUDA", ON_GPUS) + latency(1, "-CUDA", ON_HOSTS),
    ):
        found = parse(text.encode())
        assert times(text) == ALONE
        assert "only buffers in the hosts' memory were used, not those of GPUs (CUDA)" in found.notes
        assert not any(run.memory for run in found.runs)
    assert times(on_gpus) == pytest.approx([9 * t for t in ALONE], abs=0.05)
    alone = parse(on_gpus.encode())
    assert any(note.startswith("buffers were in the memory of GPUs (CUDA)") for note in alone.notes)


def test_of_a_folder_the_files_of_hosts_are_taken(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(latency(9.0, "-ROCM"))
    (tmp_path / "b.txt").write_text(latency())
    _, notes, used = collected([tmp_path])
    assert [path.name for path in used] == ["b.txt"]
    assert notes == ["not used: a.txt (buffers were in the memory of ROCM GPUs)"]


def test_the_command_line_before_a_run_says_where_it_ran() -> None:
    """A run on one node is left out beside one on two; another program's command line says nothing."""
    two, one = f"$ srun -N 2 -n 2 ./osu_latency\n{latency()}", f"$ srun -N1 -n2 ./osu_latency\n{latency(1.5)}"
    for text in (two + one, one + two):
        found = parse(text.encode())
        assert times(text) == ALONE
        assert not found.one_node
        assert any("only runs between two nodes were used, not 1 of osu_latency" in note for note in found.notes)
    assert not parse(f"$ srun -N1 -n4 ./hello\n{two}".encode()).one_node
    assert "asks for one node" in parse(one.encode()).one_node


def test_why_a_folders_ping_pong_was_left_out_is_said(tmp_path: Path) -> None:
    """Two ranks on one node took 0.3 us, so the bandwidth has no ping-pong beside it."""
    (tmp_path / "bw.txt").write_text("# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n8      8.00\n")
    (tmp_path / "latency.txt").write_text(latency(0.3))
    with pytest.raises(ImportFormatError, match=r"not used: latency\.txt \(the two ranks were on one node: a small"):
        from_files([tmp_path], name="m")


@pytest.mark.parametrize("prefix", table_of("calibrate/documents")["prefixes"])
def test_what_a_launcher_puts_before_each_line_is_taken_off(prefix: str) -> None:
    """srun -l, mpiexec -l, mpirun --tag-output, logs with times, quoted mail; digits may differ from line to line."""
    lines = latency().splitlines()
    found = "\n".join(prefix.format(n=k % 3) + line for k, line in enumerate(lines))
    assert times(f"{found}\nDone.\n") == ALONE


@pytest.mark.parametrize("title", table_of("calibrate/documents")["titles"])
def test_rows_of_another_operation_are_not_those_of_the_run_before(title: str) -> None:
    """osu_get_latency, osu_fop_latency and NCCL's tests have titles of their own, whose rows are not used."""
    other = f"# OSU {title} Test v7.3\n# Size          Latency (us)\n8                      99.00\n1024    99.00\n"
    found = parse((latency() + other).encode())
    assert times(latency() + other) == ALONE
    assert any(note.startswith("not used: ") for note in found.notes)
