"""Machine and workload files: what is accepted, and that nothing but our one-line error comes out."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.model.machine import machine
from pready.model.machine.machine import Machine
from pready.model.toml import reading
from pready.model.toml.provenance import Value
from pready.model.toml.reading import read_bytes
from pready.model.workload import workload
from pready.model.workload.workload import Workload

MELUXINA = machine.profiles()["meluxina"].read_text(encoding="utf-8")
EXAMPLE = 'threads = 8\npartitions_per_thread = 4\nbuffer = "1 MiB"\n'


@pytest.mark.parametrize("name", machine.profiles())
def test_every_value_has_provenance(name: str) -> None:
    m = machine.load(name)
    assert machine.load(name.upper()) is m
    values = m.values()
    assert len(values) > 25
    for field, value in values:
        assert value.source in ("measured", "literature", "assumed"), field
        assert len(value.why) > 5, field
        if isinstance(value, Value) and isinstance(value.value, float) and value.value > 0:
            assert value.interval is not None or value.source != "assumed", f"{field}: an assumption needs an interval"


def test_meluxina_is_what_the_paper_says() -> None:
    m = machine.load("meluxina")
    assert m.bandwidth == pytest.approx(25e9)  # gillis2023 4.1
    s = m.inter.segments[0]
    latency = s.o_s.value + s.L.value + s.o_r.value + m.matching.base.value
    assert latency == pytest.approx(1.22e-6, rel=1e-9)  # footnote 1
    assert [x.from_ for x in m.inter.segments] == [0, 2048, 16384]  # 4.1
    assert machine.load("bebop").contexts.value == 160  # zambre2021 5.3


def said(read: Any) -> str:
    with pytest.raises(PreadyError) as caught:
        read()
    text = str(caught.value)
    assert "\n" not in text
    return text


REFUSED = table_of("model/refused")
ENDLESS = ["threads = " + 4301 * "1", "is not TOML: Exceeds the limit"]


@pytest.mark.parametrize(("change", "expected"), [*REFUSED["workloads"], ENDLESS])
def test_bad_workloads(tmp_path: Path, change: str, expected: str) -> None:
    changed = {line.split(" ")[0] for line in change.splitlines()}
    kept = [line for line in EXAMPLE.splitlines() if line.split(" ")[0] not in changed]
    path = tmp_path / "w.toml"
    path.write_text("\n".join([*kept, change]) + "\n")
    text = said(lambda: workload.load(path))
    assert expected in text
    assert text.startswith(str(path))


@pytest.mark.parametrize(("old", "new", "expected"), REFUSED["machines"])
def test_bad_machines(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in MELUXINA
    path = tmp_path / "m.toml"
    path.write_text(MELUXINA.replace(old, new, 1), encoding="utf-8")
    assert expected in said(lambda: machine.load(path))


def test_a_later_segment_may_begin_below_zero(tmp_path: Path) -> None:
    old, path = '"bcopy"\nL = { value = "1.11 us", interval = ["1.06 us", "1.17 us"]', tmp_path / "m.toml"
    path.write_text(MELUXINA.replace(old, '"bcopy"\nL = { value = "-0.85 us"'))
    assert machine.load(path).inter.segments[1].L.value < 0  # o_s + G m + o_r is 0.872 us


def test_a_neighbour_list_in_a_file_beside_the_workload(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text('threads = 1\nbuffer = "8 B"\npattern = "neighbours"\nneighbour_list = "ring.txt"\n')
    (tmp_path / "ring.txt").write_text("# a ring of four\n1 3\n0, 2\n\n0 2 # as it were\n")
    assert workload.load(path).neighbour_lists == ((1, 3), (0, 2), (), (0, 2))
    (tmp_path / "ring.txt").write_text("1\n0 -2\n")
    assert "w.toml: neighbour_list = 'ring.txt': line 2: '-2' is no neighbour" in said(lambda: workload.load(path))


def test_unknown_machine_names_the_known_ones() -> None:
    text = said(lambda: machine.load("meluxna"))
    assert "machine = 'meluxna' is unknown (did you mean \"meluxina\"?); valid: a file, or one of alaska-roce" in text


def test_a_pipe_that_somebody_writes_to_is_read(tmp_path: Path) -> None:
    for late in (False, True):  # has been written already, or will be
        reads, writes = os.pipe()

        def write(to: int = writes) -> None:
            os.write(to, b"all of it")
            os.close(to)

        writer = threading.Timer(0.2 * late, write)
        writer.start() if late else write()
        assert read_bytes(Path(f"/dev/fd/{reads}"), 2**20) == b"all of it"
        os.close(reads)


def test_what_is_no_file_of_ours(tmp_path: Path) -> None:
    assert "is a directory" in said(lambda: workload.load(tmp_path))
    assert "no such file" in said(lambda: workload.load(tmp_path / "absent.toml"))
    for name, reason in (("null\0character", "embedded null byte"), ("x" * 300, "File name too long")):
        found = said(lambda name=name: workload.load(name))
        assert found.endswith(f": cannot be read: {reason}; valid: a readable file")
    latin = tmp_path / "latin.toml"
    latin.write_bytes("name = 'é'".encode("latin-1"))
    assert "byte 8 is not UTF-8" in said(lambda: workload.load(latin))
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as stream:  # sparse: a gigabyte that is never read whole
        stream.truncate(2**30)
    assert said(lambda: workload.load(huge)).endswith("huge.toml: is larger than 4 MiB; valid: at most 4 MiB")
    assert "/dev/zero: is larger than 4 MiB" in said(lambda: workload.load("/dev/zero"))
    os.mkfifo(tmp_path / "pipe")
    for _ in range(2):
        assert "pipe: is a pipe that nobody writes to" in said(lambda: read_bytes(tmp_path / "pipe", 2**20))
    assert "/dev/zero: is larger than 256 MiB" in said(lambda: read_bytes(Path("/dev/zero"), 2**40))
    (tmp_path / "100").write_bytes(b"x" * 100)
    assert len(read_bytes(tmp_path / "100", 100)) == 100
    assert "100: is larger than" in said(lambda: read_bytes(tmp_path / "100", 99))
    deep = tmp_path / "deep.toml"
    for text in ("a = " + "[" * 5000 + "]" * 5000, ".".join("a" * 5000) + " = 1"):
        deep.write_text(text)
        assert said(lambda: workload.load(deep)) == f"{deep}: is nested too deeply; valid: the documented tables"


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert workload.load(path).name == "w"


def reads(path: Path) -> None:
    for load in (workload.load, machine.load):
        try:
            load(path)
        except PreadyError as error:
            assert "\n" not in str(error)


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "f.toml"
    path.write_bytes(data)
    reads(path)


@pytest.mark.thorough
@given(st.integers(0, len(MELUXINA) - 1), st.integers(1, 40), st.text(max_size=8), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
def test_mutated_files(tmp_path: Path, at: int, length: int, insert: str, of_workload: bool) -> None:
    good = Path("examples/halo3d.toml").read_text(encoding="utf-8") if of_workload else MELUXINA
    at %= len(good)
    path = tmp_path / "f.toml"
    path.write_text(good[:at] + insert + good[at + length :], encoding="utf-8", errors="replace")
    reads(path)


words = st.text(max_size=5) | st.sampled_from(["1 MiB", "1 s", "laggard", "kde"])
scalars = st.one_of(st.booleans(), st.integers(), st.floats(), words)
others = ("model", "noise", "spread", "time", "file", "unit", "x")
names = st.sampled_from([*Workload.model_fields, *Machine.model_fields, *others])
tables = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5), max_leaves=8
)


@pytest.mark.thorough
@given(st.dictionaries(names, tables, max_size=6))
@example({"threads": 8, "buffer": "64 B", "arrivals": {"model": ["laggard"]}})
@example({"threads": 8, "buffer": "64 B", "arrivals": {"model": {}}})
@example({"threads": 10**400, "buffer": "64 B"})
@example({"threads": 8, "buffer": "64 B", "compute": []})
@example({"inter": {"segments": [1]}})
@settings(max_examples=200, deadline=None)
def test_any_tables(data: dict[str, Any]) -> None:
    for model in (Workload, Machine):
        try:
            reading.validated(model, data, "f")
        except PreadyError as error:
            assert "\n" not in str(error)


def test_a_file_that_memory_has_no_room_for_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"0 " * 2**23)
    monkeypatch.setattr("pready.model.common.memory.available", lambda: 2**30)
    assert len(reading.read_bytes(file, 2**25)) == 2**24
    with pytest.raises(PreadyError, match=r"a\.txt: reading 16 MiB needs 2\.5 GiB, 1 GiB are available"):
        reading.read_bytes(file, 2**25, 160)
