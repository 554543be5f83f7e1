"""Adding to a machine file: assumptions give way, measurements and a hand's edits do not, and each part is told."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import refused
from given import Capsys
from tables import table_of

from pready.calibrate.importers.to_machine import _parts, from_files
from pready.calibrate.machine.merge import merged
from pready.cli import main
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load

DATA = Path(__file__).parents[2] / "data" / "importers"
PUTS = (str(DATA / "osu_put_latency_v7.txt"), str(DATA / "osu_put_bw_v7.txt"))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A machine imported from latencies alone: of RMA, all is assumed."""
    path = tmp_path / "base.toml"
    path.write_text(from_files([DATA / "osu_latency_v7.txt"], name="base").text)
    return path


def merge(base: Path, files: Sequence[str], *options: str) -> Path:
    out = base.with_name("out.toml")
    assert main(["calibrate", "import", *files, "--merge", str(base), "-o", str(out), "--overwrite", *options]) == 0
    return out


def test_assumptions_give_way(base: Path, capsys: Capsys) -> None:
    before = base.read_text()
    out = merge(base, PUTS)
    told = capsys.readouterr().err
    old, new = load(base), load(out)
    assert old.one_sided.put is None
    assert new.one_sided.put is not None
    assert "new: one_sided.put = " in told
    assert "one_sided.epoch = " in told
    assert new.model_copy(update={"one_sided": old.one_sided}) == old  # nothing else
    assert base.read_text() == before


def test_what_is_the_same_is_not_told_and_all_else_is() -> None:
    text = '[[inter.segments]]\nfrom = "0 B"\nprotocol = "short"\n\n[threads]\ncores = 4  # mine\n'
    segments = [{"from": "0 B", "protocol": "short"}, {"from": "8 KiB", "protocol": "rendezvous"}]
    assert merged(text, "f", {"threads.cores": 4, "inter": {"segments": segments[:1]}}) == (text, ())
    other = '\n[[inter.segments]]\nfrom = "8 KiB"\nprotocol = "rendezvous"\n\n[threads]\ncores = 5'
    assert merged(text, "f", {"threads.cores": 5, "a.b": {"time": "1 us"}, "inter": {"segments": segments}}) == (
        text.replace("\n[threads]\ncores = 4", other) + '\n[a.b]\ntime = "1 us"\n',
        (
            "replaced: threads.cores = '5', was '4'",
            "new: a.b = 1 us",
            "replaced: inter = 2 segments (short from 0 B, rendezvous from 8 KiB), was 1 segments (short from 0 B)",
        ),
    )
    for source in ("measured", "literature"):
        known = f'[one_sided]\nput = {{time = ["77 ns"], source = "{source}"}}  # mine\n'
        put = {"one_sided.put": {"time": ["1 ns"]}}
        kept = f"kept one_sided.put of f, which is {source}; --replace one_sided.put takes the files' ['1 ns']"
        assert merged(known, "f", put) == (known, (kept,))
        assert merged(known, "f", put, ["one_sided.put"]).told == ("replaced: one_sided.put = ['1 ns'], was ['77 ns']",)
    fence = f'{known}epoch = {{value = "39 us", source = "literature"}}\n'
    flush = {**put, "one_sided.epoch": {"value": "1 us"}}  # a put and its synchronisation are replaced together
    assert merged(fence, "f", flush, ["one_sided.put"]).told[1] == "replaced: one_sided.epoch = 1 us, was 39 us"
    with pytest.raises(
        PreadyError, match=r"^--replace 'x' is nothing .* say; valid: they say nothing that a machine file"
    ):
        merged(text, "f", {}, ["x"])


def test_a_part_of_a_part_comes_with_it() -> None:
    tables = {"inter": {"L": 1}, "memory": {"copy": 2}, "interior": 3}
    found = _parts(tables, ["inter.L", "inter", "memory.copy", "interior"])
    assert found == {"inter": {"L": 1}, "memory.copy": 2, "interior": 3}


def test_a_library_that_is_named_is_meant(base: Path) -> None:
    assert load(base).library.name == "emulated"
    assert load(merge(base, PUTS, "--library", "openmpi-persist")).library.name == "openmpi-persist"


@pytest.mark.parametrize(("options", "says"), table_of("calibrate/refused")["merge"])
def test_one_clear_line(base: Path, capsys: Capsys, options: list[str], says: str, tmp_path: Path) -> None:
    words = [{"BASE": str(base), "PUT": PUTS[0]}.get(word, word) for word in options]
    assert says in refused(capsys, "calibrate", "import", *PUTS, "-o", tmp_path / "o.toml", *words)
    assert not (tmp_path / "o.toml").exists()
