"""Records that are changed and still valid: figures that contradict each other are never printed."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from capture_identities import changed, check, contradictions, entangled
from made import file_of, written
from test_capture_steps import found

from pready.calibrate.capture import alignment
from pready.calibrate.capture.files import Run
from pready.calibrate.capture.step import find
from pready.model.advice.capture_check import held_against
from pready.model.advice.predict import predict
from pready.model.machine import machine as machines
from pready.model.workload.captured import Captured
from pready.model.workload.workload import Workload

SENT = {
    "bulk": [(0, 1212, "isend", 1)],
    "many": [(0, 1009, "isend", 2), (1, 1209, "isend", 2)],
    "partitioned": [
        (0, 1, "pstart_recv", 1), (0, 3, "pstart_send", 1), (0, 1009, "pready", 2), (1, 1209, "pready", 2)
    ],
}  # fmt: skip
"""Of which thread, at how many us, by which call, and parts of the bytes to one side."""


def ring(how: str) -> list[bytes]:
    """Files of four ranks: threads finish after 1000 and 1200 us, 300 us later all is there. Then a quarter of the
    bytes, in bulk and from another place."""
    made = []
    for rank in range(4):
        lines = []
        for place, way, size in ((1, how, 1 << 20), (2, "bulk", 1 << 18)):
            at = 1502 * place
            lines.append(f"0 {at + 10} {at + 1211} region {place} {place} 2")
            lines += [f"{t} {at + 10} {at + 1010 + 200 * t} share {place} {place} {t}" for t in (0, 1)]
            for to, later in ((rank + 1) % 4, 0), ((rank - 1) % 4, 0.25):
                for thread, us, kind, parts in SENT[way]:
                    begin = at + us + later
                    lines.append(f"{thread} {begin} {begin + 0.1} {kind} {place + 2} {to} {size // parts}")
            lines.append(f"0 {at + 1215} {at + 1511} wait 0 -4 {2 if way == 'bulk' else 4}")
        made.append(file_of(["\n".join(lines)] * 21, rank, 4, 3004))
    return made


@pytest.mark.parametrize("how", SENT)
def test_no_figure_contradicts_another(how: str, tmp_path: Path) -> None:
    contents = ring(how)
    refused = 0
    for number in range(12):
        draw = random.Random(f"{how} {number}")
        said, no = check([changed(c, draw) if draw.randrange(2) else c for c in contents], tmp_path)
        assert said == [], number
        refused += no
    assert check(contents, tmp_path) == ([], False)
    assert refused < 12


def test_contradictions_are_seen() -> None:
    """Negative controls: an exchange longer than its step, a negative time, a share above 100 %."""
    step = found()
    assert contradictions(step) == []
    first = step.exchanges[0]
    for wrong in (
        replace(step, exchanges=(replace(first, exchange_s=2 * step.step_s),)),
        replace(step, exchanges=(replace(first, times=first.times - 1),)),
        replace(step, share=1.2),
        replace(step, step_s=step.step_s / 2),
    ):
        assert contradictions(wrong)


def test_an_exchange_that_needs_itself_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0 sends, rank 1 answers after 150 us of computing: two exchanges. As one, each would wait for the other."""
    asks = "0 200 210 send 1 1 64\n0 210 400 recv 1 1 64"
    answers = "0 200 215 recv 1 0 64\n0 365 380 send 1 0 64"
    run = Run(Path("made"), tuple(written([calls] * 10, r, 2, 500) for r, calls in enumerate((asks, answers))))
    assert (len(find(run).exchanges), entangled(run)) == (2, [])
    monkeypatch.setattr(alignment, "_needs", lambda *_: False)
    assert entangled(run) == ["exchange 1 needs its own messages"]


def captured(step: str, exchanges: str, **fields: object) -> Captured:
    return Captured.model_validate({"step": step, "exchanges": exchanges, **fields})


def test_a_prediction_that_the_run_contradicts_has_no_verdict() -> None:
    """200 us of a step of 1.2 ms and an exchange of 1 MiB: held against runs that took as long, longer, and in which
    exchanges took less than is saved."""
    late = {"model": "laggard", "delay": "200 us", "late": "thread"}
    fields = {"threads": 8, "buffer": "1 MiB", "both_ways": True, "compute": {"time": "1 ms"}, "arrivals": late}
    w, machine = Workload.model_validate(fields), machines.load("niagara")
    plain = predict(machine, w, draws=0)
    assert (plain.advice.verdict, plain.advice.doubt) == ("port", "")
    now_us = plain.bulk.iteration_s * 1e6
    saved = plain.bulk.iteration_s * plain.advised.speedup_percent / 100
    agrees = captured(f"{now_us:.3f} us", "1 ms").model_copy(update={"exchanges": saved})  # nothing else took time
    assert held_against(plain, agrees) is plain
    for took in (1.25, 0.75):  # a quarter of the step
        there = replace(plain, approaches=[replace(row, iteration_s=took) for row in plain.approaches])
        assert held_against(there, captured("1 s", "1 s")) is there
    for contradicts, says in (
        (captured(f"{now_us / 0.74:.3f} us", "1 ms"), "the model does not describe this step: 1.29 ms for 1.74 ms"),
        (captured(f"{now_us / 1.26:.3f} us", "1 ms"), "the model does not describe this step: 1.29 ms for 1.02 ms"),
        (captured(f"{now_us:.3f} us", f"{0.995e6 * saved:.3f} us"), "of exchanges that took"),
        (agrees.model_copy(update={"shared_cores": True}), "shared cores"),
    ):
        advice = held_against(plain, contradicts).advice
        assert (advice.verdict, advice.certainty) == ("undecided", "")
        assert says in advice.doubt
    assert predict(machine, w.changed(captured=agrees), draws=0).advice.verdict == "port"
    one = held_against(replace(plain, workload={**plain.workload, "threads": 1}), agrees).advice
    assert (one.verdict, one.certainty) == ("do not port", "")
    assert one.doubt.startswith("nothing to partition with one thread; as 8 threads of an eighth of the computing")
