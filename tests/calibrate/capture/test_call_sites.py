"""Exchanges are named by the routines of the application, whatever lies between these and MPI."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tables import table_of

from pready.calibrate.capture.call_sites import Frame, chain_of, names_of, shared_by, way_to
from pready.calibrate.capture.files import Place
from pready.calibrate.capture.symbols import _demangled, function_of, line_of


def call(function: str, offset: int, line: str = "", known: bool = True) -> Frame:
    return Frame(function, "/bin/app", offset, line, known)


@pytest.mark.parametrize(("chains", "names"), table_of("calibrate/call_sites")["names"])
def test_exchanges_are_named_by_routines(chains: list[list[list[Any]]], names: list[str]) -> None:
    assert names_of([tuple(call(*of) for of in chain) for chain in chains]) == names


def test_an_exchange_has_the_name_of_what_all_its_messages_come_through() -> None:
    main = call("main", 90)
    left, right = ((call(f"send_{to}", n), call("exchange", 10 * n), main) for n, to in ((1, "left"), (2, "right")))
    assert names_of([shared_by([left, right])]) == ["exchange"]
    # one helper called twice is the helper, and nothing in common leaves the first message's
    assert shared_by([left, (left[0], call("exchange", 11), main)]) == left
    assert shared_by([left, (call("other", 5),)]) == left
    assert shared_by([left]) == left
    assert shared_by([left, (main,)]) == (main,)
    assert shared_by([]) == ()


def test_bindings_and_runtimes_do_not_count() -> None:
    def place(name: str, file: str, caller: int) -> Place:
        return Place(16, True, "", file, name=name, caller=caller)

    app, chain = "/bin/app", ("pmpi_isend__", "exchange", "work._omp_fn.0", "GOMP_parallel", "main")
    files = ("/lib/libmpi_mpifh.so.40", app, app, "/lib/libgomp.so.1", app)
    places = [None, *(place(name, file, n + 2) for n, (name, file) in enumerate(zip(chain, files, strict=True)))]
    places.append(place("__libc_start_call_main", "/lib/libc.so.6", 0))
    assert [c.function for c in chain_of(places, 1)] == ["exchange", "work._omp_fn.0", "main"]
    assert [way_to(places, site) for site in (1, 4)] == [tuple((f, 16) for f in of) for of in (files[:3], files[3:])]
    places[3] = place("main program", "/bin/app", 5)  # Fortran's
    assert [c.function for c in chain_of(places, 1)] == ["exchange", "main program"]
    assert chain_of(places, 0) == ()
    loop = [None, replace(places[2], caller=1)]  # type: ignore[type-var]
    assert len(chain_of(loop, 1)) == len(way_to(loop, 1)) == 1
    for names, kept in (("main _start", 1), ("_start", 1), ("send main _start", 2), ("main%program main", 1)):
        calls = [place(name.replace("%", " "), app, n) for n, name in enumerate(names.split(), 2)]
        assert len(chain_of([None, *calls, None], 1)) == kept


@pytest.mark.needs("c++")
def test_names_of_places() -> None:
    """Of none, of an object that is no program, and as C++'s compilers write it."""
    assert function_of(None) == "unknown"
    assert function_of(Place(16, True, "", __file__)) == "test_call_sites.py+0x10"
    assert _demangled("_ZN4halo8exchangeEiPd") == "halo::exchange"


def test_what_addr2line_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the byte before a return address; without it, what was recorded."""
    tool = tmp_path / "addr2line"
    table = table_of("calibrate/call_sites")
    said = [
        *((name, "??:0", to, "") for name, to in table["written"]),
        *(("f", of, "f", to) for of, to in table["lines"]),
    ]
    said += [("??", "??:0", "known", ""), ("", "", "known", "")]
    monkeypatch.setenv("PATH", str(tmp_path))
    for n, (function, line, name, there) in enumerate(said):
        tool.write_text(f"#!/bin/sh\n[ \"$*\" = '-f -e {__file__} {16 * n + 1:#x}' ] && echo '{function}\n{line}'\n")
        tool.chmod(0o700)
        place = Place(16 * n + 2, True, "known", __file__)
        assert (function_of(place), line_of(place)) == (name, there)
    tool.write_text("#!/bin/sh\necho f; echo f.c:3; exit 1\n")
    assert (function_of(replace(place, offset=5)), line_of(replace(place, offset=5))) == ("known", "")
    tool.unlink()
    assert (function_of(replace(place, offset=9)), line_of(replace(place, offset=9))) == ("known", "")
    assert function_of(replace(place, offset=9, symbol="_Z1gv")) == "_Z1gv"
    assert line_of(replace(place, name="known")) == line_of(replace(place, object="/no/such")) == line_of(None) == ""
