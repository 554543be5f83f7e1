"""Exchanges are named by the routines of the application, whatever lies between these and MPI."""

from dataclasses import replace

from pready.calibrate.capture.call_sites import Frame, chain_of, names_of, shared_by
from pready.calibrate.capture.files import Place


def call(function: str, offset: int, line: str = "", known: bool = True) -> Frame:
    return Frame(function, "/bin/app", offset, line, known)


SEND, UPDATE = call("send", 1), call("update_halo", 2)


def test_helpers_are_looked_through() -> None:
    assert names_of([(call("solve", 5),), (call("advect", 6),)]) == ["solve", "advect"]
    chains = [(SEND, UPDATE, call("pdv", 10)), (SEND, UPDATE, call("accelerate", 20))]
    assert names_of(chains) == ["update_halo from pdv", "update_halo from accelerate"]


def test_several_calls_in_one_routine_are_told_apart() -> None:
    at = [call("advect", 30), call("advect", 40)]
    assert names_of([(SEND, UPDATE, c) for c in at]) == [f"update_halo, call site {n} in advect" for n in (1, 2)]
    lines = [replace(c, line=f"a.f90:{c.offset}") for c in at]
    assert names_of([(SEND, UPDATE, c) for c in lines]) == [f"update_halo (a.f90:{n})" for n in (30, 40)]
    # numbers are those of the text, not of the time
    assert names_of([(call("update_halo", n),) for n in (9, 3)]) == [f"call site {n} of update_halo" for n in (2, 1)]


def test_without_symbols_call_sites_of_the_file() -> None:
    chains = [(call("app+0x1", 1, known=False), call(f"app+{n:#x}", n, known=False)) for n in (16, 32)]
    assert names_of(chains) == ["call site 1 of app", "call site 2 of app"]


def test_one_exchange_alone_has_the_innermost_routine() -> None:
    assert names_of([(SEND, UPDATE, call("pdv", 10))]) == ["send"]
    assert names_of([(), (SEND,)]) == ["", "send"]
    assert names_of([(SEND, call("main", n)) for n in (4, 2)]) == [f"send, call site {n} in main" for n in (2, 1)]


def test_two_exchanges_in_one_call_have_one_name() -> None:
    """The step tells them apart, by axis or number."""
    other = call("send_up", 7)
    chains = [(SEND, UPDATE, call("pdv", 10)), (other, UPDATE, call("pdv", 10)), (SEND, UPDATE, call("flux", 20))]
    assert names_of(chains)[::2] == ["update_halo from pdv", "update_halo from flux"]


def test_an_exchange_has_the_name_of_what_all_its_messages_come_through() -> None:
    main = call("main", 90)
    left, right = ((call(f"send_{to}", n), call("exchange", 10 * n), main) for n, to in ((1, "left"), (2, "right")))
    assert names_of([shared_by([left, right])]) == ["exchange"]
    # one helper called twice is the helper, and nothing in common leaves the first message's
    assert shared_by([left, (left[0], call("exchange", 11), main)]) == left
    assert shared_by([left, (call("other", 5),)]) == left
    assert shared_by([left]) == left
    assert shared_by([]) == ()


def test_template_arguments_are_left_out_where_names_stay_apart() -> None:
    of_a, of_b = call("fe::swap<CSR<double, int>, Vector<int> >", 1), call("fe::swap<ELL>", 2)
    assert names_of([(of_a,)]) == ["fe::swap"]
    assert names_of([(of_a,), (of_b,)]) == [of_a.function, of_b.function]
    assert names_of([(call("operator<<", 1),)]) == ["operator<<"]


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
