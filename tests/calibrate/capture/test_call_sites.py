"""Exchanges are named by the routines of the application, whatever lies between these and MPI."""

import shutil
from dataclasses import replace

import pytest

from pready.calibrate.capture.call_sites import Frame, chain_of, names_of, shared_by
from pready.calibrate.capture.files import Place
from pready.calibrate.capture.symbols import _demangled, name_of


def call(function: str, offset: int, line: str = "", known: bool = True) -> Frame:
    return Frame(function, "/bin/app", offset, line, known)


SEND, UPDATE = call("send", 1), call("update_halo", 2)


AT = [call("advect", 30), call("advect", 40)]
OF_A, OF_B = call("fe::swap<CSR<double, int>, Vector<int> >", 1), call("fe::swap<ELL>", 2)


@pytest.mark.parametrize(
    ("chains", "names"),
    [
        ([(call("solve", 5),), (call("advect", 6),)], ["solve", "advect"]),
        # helpers are looked through
        ([(SEND, UPDATE, call(f, n)) for f, n in (("pdv", 10), ("flux", 20))],
         ["update_halo from pdv", "update_halo from flux"]),
        # several calls in one routine: numbers are those of the text, not of the time
        ([(SEND, UPDATE, c) for c in AT], [f"update_halo, call site {n} in advect" for n in (1, 2)]),
        ([(SEND, UPDATE, replace(c, line=f"a.f90:{c.offset}")) for c in AT],
         ["update_halo (a.f90:30)", "update_halo (a.f90:40)"]),
        ([(call("update_halo", n),) for n in (9, 3)], [f"call site {n} of update_halo" for n in (2, 1)]),
        # without symbols, call sites of the file
        ([(call("app+0x1", 1, known=False), call(f"app+{n:#x}", n, known=False)) for n in (16, 32)],
         ["call site 1 of app", "call site 2 of app"]),
        # one exchange alone has the innermost routine
        ([(SEND, UPDATE, call("pdv", 10))], ["send"]),
        ([(), (SEND,)], ["", "send"]),
        ([(SEND, call("main", n)) for n in (4, 2)], [f"send, call site {n} in main" for n in (2, 1)]),
        # two exchanges in one call
        ([(f, UPDATE, call("pdv", 10)) for f in (SEND, call("send_up", 7))] + [(SEND, UPDATE, call("flux", 20))],
         ["update_halo from pdv", "send_up", "update_halo from flux"]),
        # template arguments are left out where names stay apart
        ([(OF_A,)], ["fe::swap"]),
        ([(OF_A,), (OF_B,)], [OF_A.function, OF_B.function]),
        ([(call("operator<<", 1),)], ["operator<<"]),
    ],
)  # fmt: skip
def test_exchanges_are_named_by_routines(chains: list[tuple[Frame, ...]], names: list[str]) -> None:
    assert names_of(chains) == names


def test_an_exchange_has_the_name_of_what_all_its_messages_come_through() -> None:
    main = call("main", 90)
    left, right = ((call(f"send_{to}", n), call("exchange", 10 * n), main) for n, to in ((1, "left"), (2, "right")))
    assert names_of([shared_by([left, right])]) == ["exchange"]
    # one helper called twice is the helper, and nothing in common leaves the first message's
    assert shared_by([left, (left[0], call("exchange", 11), main)]) == left
    assert shared_by([left, (call("other", 5),)]) == left
    assert shared_by([left]) == left
    assert shared_by([]) == ()


def test_bindings_and_runtimes_do_not_count() -> None:
    def place(name: str, file: str, caller: int) -> Place:
        return Place(16, True, "", file, name=name, caller=caller)

    app, chain = "/bin/app", ("pmpi_isend__", "exchange", "work._omp_fn.0", "GOMP_parallel", "main")
    files = ("/lib/libmpi_mpifh.so.40", app, app, "/lib/libgomp.so.1", app)
    places = [None, *(place(name, file, n + 2) for n, (name, file) in enumerate(zip(chain, files, strict=True)))]
    places.append(place("__libc_start_call_main", "/lib/libc.so.6", 0))
    assert [c.function for c in chain_of(places, 1)] == ["exchange", "work._omp_fn.0", "main"]
    places[3] = place("main program", "/bin/app", 5)  # Fortran's
    assert [c.function for c in chain_of(places, 1)] == ["exchange", "main program"]
    assert chain_of(places, 0) == ()
    loop = [None, replace(places[2], caller=1)]  # type: ignore[type-var]
    assert len(chain_of(loop, 1)) == 1


def test_names_of_places() -> None:
    """Of none, of an object that is no program, and as C++'s compilers write it."""
    assert name_of(None) == "unknown"
    assert name_of(Place(16, True, "", __file__)) == "test_call_sites.py+0x10"
    if shutil.which("c++filt"):
        assert _demangled("_ZN4halo8exchangeEiPd") == "halo::exchange"
