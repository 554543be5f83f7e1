"""The answer in words: what partitioned communication saves, the best way today, how sure, and where it pays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from pready.model.approach.interfaces import EACH
from pready.model.common.units import Unit, format_quantity, format_size, format_time, unit_of_times
from pready.model.result.break_even import Range
from pready.model.result.prediction import ApproachPrediction, Partitioned, Prediction, Verdict
from pready.model.result.verdict import INDISTINCT, certainty_of, trouble, verdict_of

VERDICT_STYLE = {"port": "bold green", "do not port": "bold red", "undecided": "bold yellow"}
NOTABLE = 0.1
"""Percent of an iteration by which RMA has to save more than what is advised to be mentioned."""
LONG_SET_UP = 0.1
"""Share of the iterations in which a set-up is paid back from which on it is mentioned."""
AT_AN_END = 0.1
"""Share of an interval's width from an end within which a saving lies at it."""
LITTLE = 0.5
"""Percent of an iteration up to which waiting for late ranks is not mentioned."""
YOURS = "yours: pready machines, pready calibrate, --machine"
"""The commands that lead to a machine of one's own."""


def answer(prediction: Prediction, *, explained: bool = False) -> list[Text]:
    """Paragraphs: partitioned communication; the best way today; how sure; what nobody measured; where it pays.

    `explained`: with all that is said of each.
    """
    advice = prediction.advice
    out = []
    if advice.doubt:
        out = [_headed(advice.verdict, f"{advice.verdict.capitalize()}: ", f"{advice.doubt}.")]
        if not explained:
            return out
    out += decided(prediction)
    sure = rests_on(prediction, explained=explained) if explained or not advice.never else ""
    where = where_it_pays(prediction, explained=explained)  # other sizes, where none can at this one
    return [*out, *(Text(said) for said in (sure, where) if said)]


def decision(prediction: Prediction) -> list[Text]:
    """The answer's first lines, and where it pays."""
    if prediction.advice.doubt:
        return answer(prediction)
    where = where_it_pays(prediction)
    return [*decided(prediction), *([Text(where)] if where else [])]


def decided(prediction: Prediction) -> list[Text]:
    """What MPI_Psend saves, and what any library could; then the best way today, if another."""
    advice = prediction.advice
    most = advice.bound
    if most is None:
        return [partitioned(prediction), *_without_partitions(prediction)]
    step = "a step" if prediction.exchanges else "an iteration"
    if advice.never:
        could = f"none could save more than {an_end(max(most.speedup_high_percent, 0.0))} % of {step} (95 %)"
        said = f"{could}, less than {100 * advice.min_gain:g} %; certain, whatever messages cost."
        return [_headed("do not port", "Do not port, by any library: ", said)]
    could = f"o library could save more than {an_end(most.speedup_high_percent)} % of {step} (95 %)"
    if waves := prediction.workload["compute"].get("waves"):  # of a GPU
        said = f"n{could}, sending as each of {waves} waves ends: a bound without any time of a device."
        return [_headed(advice.verdict, f"{advice.verdict.capitalize()}: ", said)]
    first = partitioned(prediction)
    return [first.append(f" N{could}.", style="default not bold"), *_without_partitions(prediction)]


def _without_partitions(prediction: Prediction) -> list[Text]:
    """The best way today, if another, and what merging exchanges of a step would do."""
    advice, best, merged = prediction.advice, prediction.advised, prediction.advice.merged
    out = [] if advice.partitioned is None or best is advice.partitioned.row else [today(prediction)]
    found = "do not port" if merged is None else verdict_of(merged.probability)
    if merged is None or found == "do not port":
        return out
    by = saved_percent(merged.speedup_percent, merged.speedup_low_percent, merged.speedup_high_percent)
    sure = f"probability {chance(merged.probability)}"
    does = (
        f"saves {by} of a step, {sure}" if found == "port" else f"undecided, {by} of a step, {sure} that it is enough"
    )
    needs = "the second does not need the first's data" if len(merged.exchanges) == 2 else "none needs another's data"
    said = f"one message to each neighbour for {', '.join(merged.exchanges)}, if {needs}: {does}; to program: packing."
    if advice.verdict == "do not port":
        return [_headed(found, "Best today: ", said)]
    return [*out, _headed(found, "Better: " if merged.speedup_percent > best.speedup_percent else "Or: ", said)]


def answer_of_exchange(exchange: Prediction, step: Prediction) -> list[Text]:
    """The step's verdict, and what to do of one exchange."""
    return [*decision(step), Text(of_exchange(exchange, as_one(step)))]


def as_one(step: Prediction) -> Sequence[str]:
    """The exchanges of a step that are advised, or undecided, as one message to each neighbour."""
    merged = step.advice.merged
    told = merged is not None and not step.advice.never and verdict_of(merged.probability) != "do not port"
    return merged.exchanges if merged is not None and told else ()


def of_exchange(exchange: Prediction, merged: Sequence[str] = ()) -> str:
    """What to do of one exchange of a step: alone it may save too little, and with the others enough."""
    name, best = exchange.workload["name"], exchange.advised
    if exchange.advice.verdict == "do not port":
        if name in merged:
            return f"{name}: alone {way(best)} would {effect(best, 'save', 'a step')}."
        return f"{name} stays as it is: {way(best)} would {effect(best, 'save', 'a step')}."
    return f"{name}: {way(best)}, which alone saves {saved(best)} of a step{to_program(exchange)}."


def _headed(verdict: Verdict, head: str, said: str) -> Text:
    return Text.assemble((head, VERDICT_STYLE[verdict]), said)


def partitioned(prediction: Prediction) -> Text:
    """The first line: what MPI_Psend saves with this library on this machine, and what if it sent early."""
    asked = prediction.advice.partitioned
    if asked is None:
        return today(prediction)
    where = f"{prediction.library} on {prediction.machine}" + (" (an example)" if prediction.example else "")
    same = asked.row is not None and asked.row is prediction.advised
    said = f"{_as_it_is(prediction, asked, where)}{_if_early(asked)}{to_program(prediction) if same else ''}."
    return _headed(asked.verdict, "Partitioned (MPI_Psend): ", said)


def _as_it_is(prediction: Prediction, asked: Partitioned, where: str) -> str:
    row = asked.row
    if row is None:
        if prediction.bulk.approach.interface.partitioned:
            return f"what is sent today with {where}, and no other number of partitions"
        if any(of is not None and of.row is not None for of in (e.advice.partitioned for e in prediction.exchanges)):
            return f"no gain in any exchange with {where}"
        return f"no such calls in {where}"
    if asked.if_early is None or asked.verdict != "do not port":
        return f"{supported(prediction, row, asked.verdict, f' with {where}')}{_unless(asked)}"
    if asked.unknown:
        return f"no gain with {where}, {longer(row) or saved(row)}{_unless(asked)}"
    return f"no gain with {where}, {longer(row) or saved(row)}: it sends nothing before the last MPI_Pready"


def _unless(asked: Partitioned) -> str:
    return ", if it sends nothing early, which nobody has said" if asked.unknown else ""


def _if_early(asked: Partitioned) -> str:
    row = asked.if_early
    if row is None:
        return ""
    did = "sent early" if asked.verdict != "do not port" and not asked.unknown else "did"
    by = row.needs if asked.row is None else f"if it {did} ({row.needs}) it"
    would = f"take {longer(row)}" if longer(row) else f"save {saved(row)}"
    return f"; {by} would {would}, probability {chance(row.probability)}"


def supported(prediction: Prediction, row: ApproachPrediction, verdict: Verdict, where: str = "") -> str:
    """A saving with its interval, its probability, and the times that it is made of."""
    step = "a step" if prediction.exchanges else "an iteration"
    sure = "" if row.probability is None else f", probability {chance(row.probability)}"
    if verdict == "port":
        return f"saves {saved(row)} of {step}{where}{sure}: {times(prediction, row)}"
    least = f" that it saves {100 * prediction.advice.min_gain:g} %" if sure else ""
    change = f"{step} {longer(row)}" if longer(row) else f"{saved(row)} of {step}"
    return f"{'undecided' if verdict == 'undecided' else 'no gain'}{where}, {change}{sure}{least}"


def today(prediction: Prediction) -> Text:
    """The best way today: what to change, what it saves, how sure, and how much there is to program."""
    advice, best = prediction.advice, prediction.advised
    least, what = f"{100 * advice.min_gain:g} %", _ways(prediction)
    if best is prediction.bulk or best.speedup_percent <= 0:
        return _headed(advice.verdict, "Today: ", f"nothing that was measured saves {least}.")
    if advice.verdict == "do not port":
        said = f"nothing that was measured saves {least}; the most: {what}, {saved(best)}"
        return _headed(advice.verdict, "Today: ", f"{said}.")
    row = None if advice.partitioned is None else advice.partitioned.row
    head = "Best today: "
    if row is not None and row.speedup_percent >= best.speedup_percent - 100 * INDISTINCT:
        head = "As good, and simpler: " if trouble(best.approach) < trouble(row.approach) else head
    said = supported(prediction, best, advice.verdict)
    return _headed(advice.verdict, head, f"{what}: {said}{to_program(prediction)}.")


def to_program(prediction: Prediction) -> str:
    """How much there is to program, and what to set."""
    advice, ported = prediction.advice, _ported(prediction) or [prediction]
    efforts = dict.fromkeys(part for e in ported for part in e.advised.approach.interface.effort.split(", ") if part)
    settings = [s for s in advice.settings if not prediction.exchanges or "per neighbour" not in s]  # as in the table
    said = [*efforts, *settings]
    if not said or advice.verdict == "do not port":
        return ""
    rma = any(e.advised.approach.interface.one_sided for e in ported)  # advised only where its costs are known
    measured = f"; RMA's costs were measured in {prediction.library} on {prediction.machine}" if rma else ""
    return f"; to program: {', '.join(said)}{measured}"


def _ported(step: Prediction) -> list[Prediction]:
    return [e for e in step.exchanges if e.advice.verdict != "do not port"]


def _ways(prediction: Prediction) -> str:
    if not prediction.exchanges:
        return way(prediction.advised)
    ported = len(_ported(prediction))  # none of a step that does not pay
    return (
        f"{ported} of {len(prediction.exchanges)} exchanges, each as below"
        if ported
        else "each exchange by its best way"
    )


def way(row: ApproachPrediction) -> str:
    """An approach in words, with the messages that it makes of a buffer."""
    if row.approach.interface is EACH:
        return "each exchange as below"
    n, vcis, interface = row.approach.messages, row.vcis, row.approach.interface
    counted = [f"{n} per neighbour"] if n > 1 else []
    counted += [f"{vcis} VCIs"] if vcis > 1 else []
    return f"{interface.says} ({', '.join([interface.name, *counted])})"


def longer(row: ApproachPrediction) -> str:
    """By how much an iteration takes longer with a way, with its 95 % interval; empty if it does not."""
    if row.speedup_percent >= 0 or bare(row.speedup_percent) == "0":
        return ""
    ends = -row.speedup_high_percent, -row.speedup_low_percent
    by, unit, interval = saved_percent(-row.speedup_percent, *ends).partition(" %")
    return f"{by}{unit} longer{interval}"


def effect(row: ApproachPrediction, saves: str = "saves", step: str = "an iteration") -> str:
    """What a way does to an iteration, as a predicate."""
    makes = "make" if saves == "save" else "makes"
    return f"{makes} {step} {longer(row)}" if longer(row) else f"{saves} {saved(row)} of {step}"


def saved(row: ApproachPrediction) -> str:
    """A saving in percent with its 95 % interval; negative is longer."""
    return saved_percent(row.speedup_percent, row.speedup_low_percent, row.speedup_high_percent)


def saved_percent(percent: float, least: float, most: float) -> str:
    """A saving with its interval, from numbers."""
    if bare(percent) == bare(least) == bare(most):
        return f"{bare(percent)} %"
    return f"{bare(percent)} % ({an_end(least)} to {an_end(most)} %)"


def an_end(percent: float) -> str:
    """An end of an interval, a percentage without its sign of unit."""
    return f"{percent:.0f}" if abs(percent) >= 10 else bare(percent)


def bare(percent: float) -> str:
    """A percentage without its sign of unit: a tenth, or from 0.1 to 1 two digits."""
    if abs(percent) < 0.05:
        return "0"
    if 0.1 <= abs(percent) < 0.995:  # which is 1.0
        return f"{percent:.2g}"
    return f"{percent:.1f}" if abs(percent) < 100 else f"{percent:.0f}"


def times(prediction: Prediction, row: ApproachPrediction) -> str:
    """An iteration before and after, with as many digits as show the saving."""
    before, _ = prediction.iteration_s
    return from_to(before, before * (1 - row.speedup_percent / 100))


def from_to(before_s: float, after_s: float) -> str:
    """Two times, in seconds, as "2.31 -> 2.10 ms": digits from which their change follows to a tenth of a percent."""
    unit, name = unit_of_times(max(before_s, after_s))
    whole, texts = len(str(int(before_s / unit))), list[str]()
    for digits in range(3, 9):
        texts = [f"{t / unit:.{max(digits - whole, 0)}f}" for t in (before_s, after_s)]
        if bare(100 * (1 - float(texts[1]) / float(texts[0]))) == bare(100 * (1 - after_s / before_s)):
            break
    return f"{texts[0]} -> {texts[1]} {name}"


def rests_on(prediction: Prediction, *, explained: bool = False) -> str:
    """What the saving rests on, what would turn it, what nobody measured, and what to measure next."""
    most, advice = None if explained else 1, prediction.advice
    said = [f"{name} ({100 * share:.0f} %)" for name, share in advice.rests_on.items()][:most]
    out = [f"Rests on {', '.join(said)}{_at_an_end(prediction)}."] if said else []
    if explained and advice.turns_if:
        out.append(f"Would turn if {', or '.join(f'{clause} ({chance(p)})' for clause, p in advice.turns_if)}.")
    rma = unmeasured(prediction)
    out += [f"Unmeasured here: {rma.name}, {saved(rma)}."] if rma is not None else []
    out += [f"{advice.ask}."] if advice.ask else []
    measure = [advice.measure_next, "pready calibrate --measure approach" if rma is not None else ""]
    if wanted := dict.fromkeys(filter(None, measure)):
        out.append(f"Measure next: {' or '.join(wanted)}.")
    return " ".join(out)


def _at_an_end(prediction: Prediction) -> str:
    """Why the saving lies at an end of its interval: what it is where what it rests on is another."""
    best, first = prediction.advised, next(iter(prediction.sensitivity), None)
    low, high = best.speedup_low_percent, best.speedup_high_percent
    if first is None or AT_AN_END < (best.speedup_percent - low) / max(high - low, 1e-9) < 1 - AT_AN_END:
        return ""
    n = max(range(len(first.steps)), key=lambda n: abs(first.speedup_percent[n] - best.speedup_percent))
    when = first.steps[n] if first.kind == "unknown" else f"it came out at the {first.steps[n]}"
    return f": {bare(first.speedup_percent[n])} % if {when}"


def unmeasured(prediction: Prediction) -> ApproachPrediction | None:
    """RMA that may save more than what is advised, on costs that nobody measured."""
    rows = [r for r in prediction.approaches if r.unmeasured and r.probability is not None]
    row = max(rows, key=lambda r: r.speedup_percent, default=None)
    if row is None or row.speedup_percent < max(prediction.advised.speedup_percent, 0.0) + NOTABLE:
        return None
    return row


def chance(p: float | None) -> str:
    """A probability in two digits, which are those of its verdict and certainty, too."""
    if p is None:
        return "not drawn"
    if not 0.01 <= p <= 0.99:
        return "over 0.99" if p > 0.5 else "under 0.01"
    near, towards = round(p, 2), (math.floor(100 * p) if p > 0.5 else math.ceil(100 * p)) / 100
    same = verdict_of(near) == verdict_of(p) and certainty_of(near) == certainty_of(p)
    return f"{near if same else towards:.2f}"


def where_it_pays(prediction: Prediction, *, explained: bool = False) -> str:
    """For which buffers and messages the best way pays, what the port may cost, and when its set-up is paid back."""
    advice, best = prediction.advice, prediction.advised
    if prediction.engine == "sst" or best is prediction.bulk:
        return ""
    said = [] if advice.pays is None else [sizes(prediction, advice.pays, advice.pays_messages or [])]
    if advice.verdict != "do not port" and prediction.room_s > 0:
        said.append(room(prediction))
    start, long = advice.from_iterations, LONG_SET_UP * prediction.workload["iterations"]
    if best.begin_s and start is not None and (explained or start > long):
        said.append(f"set-up {format_time(best.begin_s)}, paid back in {_iterations(start)}")
    out = "; ".join(said)
    return out[:1].upper() + out[1:] + "." if out else ""


def sizes(prediction: Prediction, pays: list[Range], counts: list[int]) -> str:
    """The buffers for which a port pays, and in how many messages it does with this one."""
    workload, best = prediction.workload, prediction.advised
    what = "largest face" if len(set(workload["faces"] or ())) > 1 else "neighbour"
    if not pays:
        return f"likely to pay at no size up to 1 GiB per {what}"
    interface, many = best.approach.interface, ""
    if counts and interface.splits:
        tried = {
            p.approach.messages for p in prediction.approaches if p.available and p.approach.interface is interface
        }
        some = _runs(counts, sorted({*tried, *counts}))
        many = f", {format_size(workload['buffer'])} in {some} message{'s' * (some != '1')}"
    return f"pays {ranges(pays)} per {what}{many}"


def _runs(some: Sequence[int], tried: Sequence[int]) -> str:
    """Which of the numbers that were tried are among some: "1 or 4 to 16"."""
    runs = [[*run] for among, run in groupby(tried, key=some.__contains__) if among]
    return " or ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def room(prediction: Prediction) -> str:
    """What the port itself may cost."""
    splits = prediction.advised.approach.interface.splits
    costs = "tiling, packing and calls" if splits else "packing and calls"
    step = "a step" if prediction.exchanges else "an iteration"
    return f"the gain is gone if {costs} cost {format_time(prediction.room_s)} {step}"


def _iterations(n: int) -> str:
    return "the first iteration" if n == 1 else f"{n} iterations"


def ranges(some: Sequence[Range]) -> str:
    """Sizes in words."""
    said = []
    for r in some:
        low, high = format_size(r.low), "" if r.high == float("inf") else format_size(r.high)
        if low == high:
            said.append(f"at {low}")
        elif r.low and high:
            said.append(f"from {low} to {high}")
        else:
            said.append(f"from {low}" if r.low else f"up to {high}" if high else "at any size")
    return " and ".join(said)


def asked(prediction: Prediction, *, explained: bool = False) -> str:
    """What was asked, and how much of an iteration is communication, in a line; `explained`: all of it."""
    w = prediction.workload
    if prediction.exchanges:
        parts = [f"{len(prediction.exchanges)} exchanges", _count(w["threads"], "thread")]
    else:
        own = [f"{w['threads']} × {_count(w['partitions_per_thread'], 'partition')}"]
        parts = [*own * explained, f"{_bytes(w)} per neighbour"]
        parts += [w["pattern"], *_work(w)] if explained else []
    if prediction.ranks and explained:
        grid = " × ".join(str(n) for n in prediction.ranks if n > 1) or "1"
        parts.append(f"{grid} ranks" + (f" on {prediction.network}" if prediction.network else ""))
    before, _ = prediction.iteration_s
    last = f"now {format_time(before)}"
    if (today := prediction.today_s) is not None:
        _, sent, late = (100 * part / prediction.bulk.iteration_s for part in today)
        sent = min(sent, 100 - late)
        last += f", {sent:.0f} % communication" if sent >= 10 else f", {sent:.2g} % communication"
        last += f", {late:.0f} % late ranks" if late > LITTLE else ""
    return f"{', '.join(filter(None, (w['name'], *parts)))}: {last}"


def _bytes(workload: dict[str, object]) -> str:
    faces = workload.get("faces")
    if isinstance(faces, list) and len(set(faces)) > 1:
        return " / ".join(format_size(b) for b in faces)
    return format_size(workload["buffer"])  # type: ignore[arg-type]


def _work(workload: dict[str, object]) -> list[str]:
    """Computing time and how far arrivals lie apart."""
    compute, arrivals = workload["compute"], workload["arrivals"]
    assert isinstance(compute, dict)
    assert isinstance(arrivals, dict)
    out = []
    measured = arrivals["model"] in ("trace", "kde")  # whose times are drawn, not their mean: "now" has them
    if compute.get("time") and not measured:
        out.append(f"{format_time(compute['time'])} of computing")
    shares = {"spread": "spread", "late_by": "late by", "up_to": "later by up to", "epsilon": "ε", "delta": "δ"}
    out += [f"{name} {100 * arrivals[key]:.3g} %" for key, name in shares.items() if arrivals.get(key)]
    if arrivals.get("delay"):
        out.append(f"late by {format_time(arrivals['delay'])}")
    if arrivals.get("delay_rate"):
        out.append(f"late by {format_quantity(arrivals['delay_rate'], Unit.TIME_PER_BYTE)}")
    if arrivals.get("sd"):
        out.append(f"spread {format_time(arrivals['sd'])}")
    if measured:
        out.append("arrivals as measured")
    return out


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n > 1)}"
