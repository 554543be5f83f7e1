"""`pready validate` as a user meets it; what it compares with is replaced by made-up findings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import findings
import pytest
from command_line import refused

from pready.calibrate.measure import compile
from pready.cli import main
from pready.commands import validate as validating
from pready.model.common.errors import PreadyError
from pready.model.version import VERSION
from pready.validate import fabrics, papers, sst
from pready.validate.conclusion import NothingMeasured
from pready.validate.live import session as live
from pready.validate.prove import many
from pready.validate.result import ClaimResult, Comparison
from pready.validate.site import Site, Told

GOOD = replace(findings.comparison(8), checks=(findings.GOOD,), controls=findings.comparison(8).controls[:1])

Papers = Callable[..., tuple[ClaimResult, ...]]


def checked(*claims: ClaimResult, interrupt: bool = False) -> Papers:
    """Stands for `papers.validate`."""

    def validate(seed: int = 0, *, on_claim: Callable[[ClaimResult], object]) -> tuple[ClaimResult, ...]:
        for claim in claims:
            on_claim(claim)
        if interrupt:
            raise KeyboardInterrupt
        return claims

    return validate


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(*found: ClaimResult, interrupt: bool = False) -> None:
        monkeypatch.setattr(fabrics, "validate", checked())
        monkeypatch.setattr(papers, "validate", checked(*found, interrupt=interrupt))

    return use


def test_one_line_per_claim_what_is_off_first(claims: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    claims(*findings.report().claims)
    assert main(["validate", "papers"]) == 1
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if line.startswith(("off ", "ok ", "out of scope "))]
    assert len(lines) == len(findings.report().claims)
    gillis = shown[shown.index("gillis2023: 1 off, 2 ok") : shown.index("jammer2022: 1 out of scope")]
    at = [gillis.index(words) for words in ("4.2.1-contention", "4.3-eta", "eq4")]
    assert at == sorted(at)
    row = next(line for line in lines if "4.2.1-contention" in line)
    assert row.split()[-4:] == ["30", "60", "±10", "%"]
    assert "3 of 4 checked claims of 3 papers agree, 1 do not; 1 are out of scope." in shown


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ((findings.CLAIM, findings.OUT), 0),
        ((findings.CLAIM, replace(findings.OFF, known_off=True)), 0),
        ((findings.CLAIM, findings.OFF), 1),
    ],
    ids=["nothing off", "known to be off", "off"],
)
def test_exit_status(found: tuple[ClaimResult, ...], status: int, claims: Callable[..., None]) -> None:
    claims(*found)
    assert main(["validate", "papers"]) == status


def test_json_is_one_object(claims: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    claims(findings.CLAIM, replace(findings.OFF, got=float("inf")), findings.OUT)
    assert main(["validate", "papers", "--json", "--seed", "9"]) == 1
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert (data["version"], data["seed"]) == (VERSION, 9)
    assert {"Python", "system", "command"} <= set(data["about"])
    keys = {"id", "source", "of", "where", "expected", "got", "tolerance", "status"}
    assert all(keys <= set(c) for c in data["claims"])
    assert [c["status"] for c in data["claims"]] == ["ok", "off", "out of scope"]
    assert [c["got"] for c in data["claims"]] == [2.6, None, None]
    assert data["comparisons"] == []


def test_the_report_and_its_data(
    claims: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims(findings.CLAIM)
    assert main(["validate", "papers", "-o", str(tmp_path / "new" / "report")]) == 0
    page = (tmp_path / "new" / "report" / "index.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "four threads" in page
    data = json.loads((tmp_path / "new" / "report" / "report.json").read_text(encoding="utf-8"))
    assert data["claims"][0]["id"] == "gillis2023/4.3-eta"
    assert "index.html" in capsys.readouterr().err


def test_an_interruption_keeps_what_is_there(
    claims: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims(findings.CLAIM, interrupt=True)
    assert main(["validate", "papers", "-o", str(tmp_path)]) == 130
    assert "4.3-eta" in capsys.readouterr().out
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert len(data["claims"]) == 1
    assert data["about"]["interrupted"] == "this report is not complete"


def test_all_says_what_it_skips(
    claims: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def not_here(*_: Any) -> None:
        raise validating.Skipped("no such thing here")

    claims(findings.CLAIM)
    monkeypatch.setattr(validating, "_live", not_here)
    monkeypatch.setattr(validating, "_sst", not_here)
    assert main(["validate", "all"]) == 0
    assert capsys.readouterr().err == "skipped live: no such thing here\nskipped sst: no such thing here\n"
    assert main(["validate", "sst"]) == 2
    assert capsys.readouterr().err == "pready: error: validate sst: no such thing here\n"
    # Who names a cluster wants it: without it, that is an error, but the papers' claims are there.
    assert main(["validate", "all", "--rig", "100Mbit"]) == 2
    captured = capsys.readouterr()
    assert "4.3-eta" in captured.out
    assert "pready: error: validate live: no such thing here\n" in captured.err


def test_a_part_that_fails_leaves_the_others(
    claims: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise PreadyError("too little was measured")

    def fine(_: validating.Wanted, found: validating.Found) -> None:
        found.comparisons.append(GOOD)

    claims(findings.CLAIM)
    monkeypatch.setattr(validating, "_live", broken)
    monkeypatch.setattr(validating, "_sst", fine)
    assert main(["validate", "all", "--json"]) == 2
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert (len(data["claims"]), len(data["comparisons"])) == (1, 1)
    assert data["about"]["error 1"] == "too little was measured"
    assert captured.err == "pready: error: too little was measured\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("everything",), "everything"),
        (("live", "--rig", "100Mbit", "--launcher", "srun"), "both --launcher and --rig given"),
        (("live",), "needs a folder for its raw records"),
        (("live", "-o", "{tmp}/r", "--budget", "5"), "has no unit"),
        (("papers", "-o", "{tmp}/file/report"), "cannot be made"),
        (("papers", "--seed", "-1"), "--seed"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert said in refused(capsys, "validate", *(a.format(tmp=tmp_path) for a in arguments))


# ---- SST ------------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_sst_with_the_users_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Any] = []

    def validate(machine: Any, folder: Path, *, seed: int, on_progress: Callable[[int, int, str], None]) -> Comparison:
        on_progress(0, 2, "a halo")
        seen.append((machine.name, folder, seed))
        return replace(GOOD, source="sst", title="against SST")

    monkeypatch.setattr(sst, "validate", validate)
    assert main(["validate", "sst", "--machine", "niagara", "-o", str(tmp_path), "--seed", "2"]) == 0
    assert seen == [("Niagara", tmp_path / "raw" / "sst", 2)]
    assert "against SST" in capsys.readouterr().out
    assert "SST is no measurement" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_without_sst_it_is_skipped(
    claims: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pready.sst.library import MissingSST

    def missing(*_: Any, **__: Any) -> None:
        raise MissingSST("no sst-config on PATH")

    def no_cluster(*_: Any) -> None:
        raise validating.Skipped("the rig needs root")

    claims(findings.CLAIM)
    monkeypatch.setattr(sst, "validate", missing)
    monkeypatch.setattr(validating, "_live", no_cluster)
    assert main(["validate", "all", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "skipped live: the rig needs root\n" in said
    assert "skipped sst: no sst-config on PATH" in said
    about = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["about"]
    assert about["skipped: live"] == "the rig needs root"


# ---- live -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like an MPI, and a build that is not run."""
    home = tmp_path / "mpi"
    (home / "bin").mkdir(parents=True)
    launcher = home / "bin" / "mpiexec"
    launcher.write_text("#!/bin/sh\necho 'HYDRA build details'\n", encoding="utf-8")
    launcher.chmod(0o755)
    monkeypatch.setattr(compile, "built_for", lambda home: f"built for {home}")
    return home


def measured(seen: list[Any], *, interrupt: bool = False, found: Comparison | None = None) -> Callable[..., Comparison]:
    """Stands for `live.validate`."""

    def validate(
        site: Site, folder: Path, *, budget_s: float, seed: int, on_progress: Callable[[Told], object]
    ) -> Comparison:
        seen.append((site, folder, budget_s, seed))
        on_progress(Told("measuring", 1, 2, 3.0))
        if interrupt and budget_s:
            raise KeyboardInterrupt
        if found is None:
            raise PreadyError("no workload was measured in every round")
        (folder / f"live-{site.library}.toml").write_text('name = "made up"\n', encoding="utf-8")
        return found

    return validate


def both_ways(*_: Any, **__: Any) -> Comparison:
    raise NothingMeasured("no exchange was measured in every round")


@pytest.mark.thorough
@pytest.mark.parametrize(("found", "status"), [(GOOD, 0), (findings.comparison(8), 1)])
def test_live_on_two_libraries(
    found: Comparison,
    status: int,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(live, "validate", measured(seen, found=found))
    monkeypatch.setattr(many, "both_ways", both_ways)
    words = f"{library}/bin/mpiexec -n 2"
    mpi = ["--mpi", str(library), "--mpi", str(library)]
    raw = tmp_path / "raw"
    options = ["--launcher", words, *mpi, "--budget", "2 min", "--raw", str(raw), "--json", "--seed", "4"]
    assert main(["validate", "live", *options]) == status
    assert [(s.library, *how) for s, *how in seen] == [(name, raw, 90.0, 4) for name in ("mpich", "mpich-2")]
    said = capsys.readouterr()
    assert "skipped mpich-2, both ways: no exchange was measured in every round" in said.err
    data = json.loads(said.out)
    assert [c["about"]["library"] for c in data["comparisons"]] == ["mpich", "mpich-2"]
    assert data["comparisons"][0]["about"]["machine file live-mpich.toml"] == 'name = "made up"\n'
    assert [c["ok"] for c in data["comparisons"][0]["checks"]] == [c.ok for c in found.checks]


@pytest.mark.thorough
def test_exchanges_both_ways_are_a_comparison_of_their_own(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def both(*given: Any, budget_s: float, **_: Any) -> Comparison:
        asked.append((given[0].library, given[1], budget_s))
        return findings.comparison(8)

    monkeypatch.setattr(live, "validate", measured([], found=GOOD))
    monkeypatch.setattr(many, "both_ways", both)
    words = ["--launcher", f"{library}/bin/mpiexec -n 2", "--budget", "2 min", "--json"]
    assert main(["validate", "live", *words, "-o", str(tmp_path / "r")]) == 1
    assert asked == [("mpi", tmp_path / "r" / "raw" / "live-mpi.jsonl", 30.0)]
    assert len(json.loads(capsys.readouterr().out)["comparisons"]) == 2


@pytest.mark.thorough
@pytest.mark.parametrize("found", [GOOD, None], ids=["enough", "too little"])
def test_an_interrupted_measurement_concludes_from_what_it_has(
    found: Comparison | None, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(live, "validate", measured(seen, interrupt=True, found=found))
    monkeypatch.setattr(many, "both_ways", both_ways)
    words = ["--launcher", f"{library}/bin/mpiexec -n 2"]
    assert main(["validate", "live", *words, "--raw", str(tmp_path / "raw"), "-o", str(tmp_path / "r")]) == 130
    assert [budget for _, _, budget, _ in seen] == [900.0, 0.0]
    data = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    assert len(data["comparisons"]) == (found is not None)
