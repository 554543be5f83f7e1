"""Exchanges are named by the routines of the application, whatever lies between these and MPI."""

import shutil
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tables import table_of

from pready.calibrate.capture import symbols
from pready.calibrate.capture.call_sites import Frame, chain_of, names_of, shared_by, way_to
from pready.calibrate.capture.files import Place
from pready.calibrate.capture.symbols import _demangled, function_of, has_symbol, line_of, name_of


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
    assert name_of(None) == "unknown"
    assert name_of(Place(16, True, "", __file__)) == "test_call_sites.py+0x10"
    assert _demangled("_ZN4halo8exchangeEiPd") == "halo::exchange"


def elf(symbols: Sequence[tuple[int, str, int, int, int]]) -> bytes:
    """Of sections with a kind, name, kind of symbol, address and length; mapped from 0x401010 on, so 0x401000 counts.

    Kinds below 0 are sections without entries, and those above 99 end beyond the file.
    """
    heads, body, at = [bytes(64)], b"", 64 + 3 * 56 + 64 * (1 + 2 * len(symbols))
    for kind, name, of, address, length in symbols:
        texts, left = b"\0" + name.encode() + b"\0", bytes(5 * (kind == 11))  # no whole entry
        start, link = at + len(body), len(heads) + 1
        body += texts + struct.pack("<IBBHQQ", 1, of, 0, 0, address, length) + left
        sized, entry = 24 + len(left) + 10**6 * (kind > 99), 24 * (kind > 0)
        table = start + len(texts)
        heads.append(struct.pack("<IIQQQQIIQQ", 0, abs(kind) % 100, 0, 0, table, sized, link, 0, 0, entry))
        heads.append(struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, start, len(texts), 0, 0, 0, 0))
    programs = ((6, 0x40), (1, 0x401010), (1, 0x402000))
    mapped = b"".join(struct.pack("<IIQQ", kind, 0, 0, to).ljust(56, b"\0") for kind, to in programs)
    head = b"\x7fELF\x02\x01".ljust(32, b"\0") + struct.pack("<QQIH4H", 64, 64 + 3 * 56, 0, 64, 56, 3, 64, len(heads))
    return head.ljust(64, b"\0") + mapped + b"".join(heads) + body


def test_functions_of_an_object_file(tmp_path: Path) -> None:
    """From the first byte on; of names of one place the one of the longest; none of data, and of what is elsewhere."""
    made = [(2, "first", 2, 0x401100, 0x20), (11, "second", 0x12, 0x401120, 0), (2, "data", 1, 0x401130, 8)]
    made += [(2, name, 2, 0x401200, size) for name, size in (("short", 8), ("long_b", 16), ("long_a", 16))]
    made += [(kind, f"none{kind}", 2, 0x401300, 8) for kind in (-2, 102, 3)] + [
        (2, "extern", 2, 0, 8),
        (2, "last", 2, 0x401400, 8),
    ]
    file = tmp_path / "x.elf"
    file.write_bytes(elf(made))
    for offset, name in table_of("calibrate/call_sites")["functions"]:
        for place in (Place(offset, False, "", str(file)), Place(offset + 1, True, "", str(file))):
            assert function_of(place) == (name or f"x.elf+{place.offset:#x}")
            assert has_symbol(place) == bool(name)
    file = tmp_path / "y.elf"
    names = table_of("calibrate/call_sites")["written"]
    file.write_bytes(elf([(2, name, 2, 0x401000 + 16 * n, 16) for n, (name, _) in enumerate(names, 1)]))
    assert [function_of(Place(16 * n, False, "", str(file))) for n in range(1, len(names) + 1)] == [
        to for _, to in names
    ]


def test_the_line_of_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [symbols._said(["sh", "-c", text]) for text in ("echo; echo a; echo b", "echo a; exit 1", "true")]
    assert said == ["a", "", ""]
    asked: list[list[str]] = []

    def tool(command: list[str]) -> str:
        asked.append(command)
        return said[-1]

    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(symbols, "_said", tool)
    for n, (answer, line) in enumerate(table_of("calibrate/call_sites")["lines"]):
        said.append(answer)
        place = Place(16 * n + 2, True, "", __file__)
        assert line_of(place) == line
        assert name_of(place) == f"test_call_sites.py+{16 * n + 2:#x}" + (f" ({line})" if line else "")
        assert asked.pop() == ["addr2line", "-e", __file__, hex(16 * n + 1)]
    assert line_of(replace(place, name="known")) == line_of(replace(place, object="/no/such")) == line_of(None) == ""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert (_demangled("_Z1gv"), line_of(replace(place, offset=9)), asked) == ("_Z1gv", "", [])
