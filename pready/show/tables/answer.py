"""The answer in words: the verdict, how sure it is, why, and what to call."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from pready.model.advice.gpu import GpuBound
from pready.model.approach.interfaces import EACH
from pready.model.common.units import Unit, format_quantity, format_size, format_time
from pready.model.result.break_even import Range
from pready.model.result.prediction import Advice, ApproachPrediction, Prediction

VERDICT_STYLE = {"port": "bold green", "do not port": "bold red", "undecided": "bold yellow"}
MOST_TURNS, MOST_INPUTS = 1, 3
"""Most clauses of what would turn a verdict, and inputs that it rests on."""
NAMED = 0.1
"""Share of the draws from which on another way that saves most in them is named."""


def answer(prediction: Prediction) -> list[Text]:
    """Paragraphs: the verdict; how sure; why; what to call and set; where else it pays."""
    advice = prediction.advice
    verdict = advice.verdict.capitalize(), VERDICT_STYLE[advice.verdict]
    out = [Text.assemble(verdict, f": {headline(prediction)}")]
    if advice.doubt:
        return out
    if sure := how_sure(advice):
        out.append(Text(sure))
    out.append(Text(f"Why: {advice.because}."))
    if advice.settings:
        out.append(Text(f"Set: {'; '.join(advice.settings)}."))
    if where := where_it_pays(prediction):
        out.append(Text(where))
    return out


def headline(prediction: Prediction) -> str:
    """What the verdict says of an iteration, its interval included."""
    advice, best, now = prediction.advice, prediction.advised, prediction.bulk
    if advice.doubt:
        return f"{advice.doubt}."
    step = "a step" if prediction.exchanges else "an iteration"
    saved = bare(best.speedup_percent)
    span = interval(best.speedup_low_percent, best.speedup_high_percent, saved)
    least, times = f"{100 * advice.min_gain:g} %", from_to(now.iteration_s, best.iteration_s)
    way = _ways(prediction)
    if advice.verdict == "port":
        return f"{way}: {step} gets {saved} % shorter{span}: {times}."
    if advice.verdict == "undecided" and best.speedup_percent <= -0.005:
        longer = bare(-best.speedup_percent)
        span = interval(-best.speedup_high_percent, -best.speedup_low_percent, longer)
        return f"{way}: {step} gets {longer} % longer{span}, and a port has to make it {least} shorter."
    if advice.verdict == "undecided":
        return f"{way}: {step} gets {saved} % shorter{span}, and a port has to save {least}."
    if best is now or bare(best.speedup_percent) == "0":
        return f"no way makes {step} shorter."
    if best.speedup_percent <= 0:
        return f"no way makes {step} shorter; {way} would make it {bare(-best.speedup_percent)} % longer."
    return f"the best way, {way}, makes {step} {saved} % shorter{span}, less than {least}."


def from_to(before_s: float, after_s: float) -> str:
    """Two times, in seconds, as "2.31 -> 2.1 ms": the unit once if both have it."""
    before, after = format_time(before_s).split(), format_time(after_s).split()
    return " ".join([*(before[:1] if before[1:] == after[1:] else before), "->", *after])


def interval(low: float, high: float, middle: str, show: Callable[[float], str] | None = None) -> str:
    """ " (8.0 to 9.5)" in percent; "" where both ends look like the value itself."""
    ends = [(show or bare)(low), (show or bare)(high)]
    return "" if ends == [middle, middle] else f" ({ends[0]} to {ends[1]})"


def bare(percent: float) -> str:
    """A percentage without its sign of unit, to a tenth; small ones to two digits."""
    if abs(percent) < 0.005:
        return "0"
    return f"{percent:.2g}" if abs(percent) < 1 else f"{percent:.1f}" if abs(percent) < 100 else f"{percent:.0f}"


def _ways(prediction: Prediction) -> str:
    if not prediction.exchanges:
        return way(prediction.advised)
    ported = [e for e in prediction.exchanges if e.advised.speedup_percent > 0]
    return f"{len(ported)} of {len(prediction.exchanges)} exchanges, each as below"


def way(row: ApproachPrediction) -> str:
    """An approach with the messages that it makes of a buffer."""
    if row.approach.interface is EACH:
        return "each exchange as below"
    n, vcis = row.approach.messages, row.vcis
    calls = {"MPI_Put": "MPI_Put", "MPI_Psend": "partition"}.get(row.approach.interface.call, "message")
    many = f"{n} {calls}" + "s" * (n > 1 and calls != "MPI_Put")
    return f"{row.name}, {many} per neighbour" + (f" on {vcis} VCIs" if vcis > 1 else "")


def how_sure(advice: Advice) -> str:
    """The probability, what it rests on, what would turn it, and what to measure next; "" where nothing was drawn."""
    if advice.probability is None:
        return ""
    first = {"certain": "Certain", "likely": "Likely", "": "Undecided"}[advice.certainty]
    said = f"{first}: {chance(advice.probability)} that it saves {100 * advice.min_gain:g} %"
    if (name := advice.best.name) in advice.best_in and len(advice.best_in) > 1:
        others = sorted(((p, n) for n, p in advice.best_in.items() if n != name), reverse=True)
        rival = next(((p, n) for p, n in others if p >= NAMED), None)
        said += f", {chance(advice.best_in[name])} that nothing saves more"
        said += f" ({rival[1]} {chance(rival[0])})" if rival else ""
    said += "."
    if resting := [f"{name} ({100 * share:.0f} %)" for name, share in advice.rests_on.items()][:MOST_INPUTS]:
        said += f" Rests on {', '.join(resting)}."
    if advice.turns_if:
        some = [f"{clause} ({chance(p)})" for clause, p in advice.turns_if[:MOST_TURNS]]
        said += f" Would turn if {', or '.join(some)}."
    if advice.measure_next:
        said += f" Measure next: {advice.measure_next}."
    return said


def chance(p: float) -> str:
    """A probability in percent, never rounded to what is impossible or sure."""
    percent = 100 * p
    if percent >= 99.5:
        return "over 99 %"
    return "under 1 %" if percent < 0.5 else f"{percent:.0f} %"


def where_it_pays(prediction: Prediction) -> str:
    """The buffers for which the best approach is worth porting, and from which number of iterations on."""
    if prediction.engine == "sst" or prediction.exchanges:
        return ""
    advice = prediction.advice
    faces = prediction.workload["faces"] or [0]
    what = "largest face" if min(faces) < max(faces) else "buffer"
    if not advice.pays:
        said = f"Saves {100 * advice.min_gain:g} % with no {what} up to 1 GiB"
    else:
        said = f"Pays {ranges(advice.pays)}" + (" of the largest face" if what == "largest face" else "")
    best = advice.best
    if best.begin_s and advice.from_iterations is not None:
        said += f"; set-up {format_time(best.begin_s)}, paid back in {_iterations(advice.from_iterations)}"
    return said + "."


def _iterations(n: int) -> str:
    return "the first iteration" if n == 1 else f"{n} iterations"


def ranges(some: list[Range]) -> str:
    """Sizes in words."""
    said = []
    for r in some:
        low, high = format_size(r.low), "" if r.high == float("inf") else format_size(r.high)
        if r.low and high:
            said.append(f"from {low} to {high}")
        else:
            said.append(f"from {low}" if r.low else f"up to {high}" if high else "of any size")
    return " and ".join(said)


def asked(prediction: Prediction) -> str:
    """What was asked: the workload, the machine and the library, in a line."""
    w = prediction.workload
    parts = [f"{w['name']} on {prediction.machine} ({prediction.library})"]
    if prediction.exchanges:
        parts.append(f"{len(prediction.exchanges)} exchanges a step, {_count(w['threads'], 'thread')}")
    else:
        team = f"{_count(w['threads'], 'thread')} × {_count(w['partitions_per_thread'], 'partition')}"
        parts += [team, f"{_bytes(w)} per neighbour", w["pattern"], *_work(w)]
    parts.append(f"{format_time(prediction.bulk.iteration_s)} now")
    if prediction.ranks:
        grid = " × ".join(str(n) for n in prediction.ranks if n > 1) or "1"
        parts.append(f"{grid} ranks" + (f" on {prediction.network}" if prediction.network else ""))
    return ", ".join([f"{parts[0]}: {parts[1]}", *parts[2:]])


def _bytes(workload: dict[str, object]) -> str:
    faces = workload.get("faces")
    if isinstance(faces, list):
        return " / ".join(format_size(b) for b in faces)
    return format_size(workload["buffer"])  # type: ignore[arg-type]


def _work(workload: dict[str, object]) -> list[str]:
    """Computing time and how far arrivals lie apart."""
    compute, arrivals = workload["compute"], workload["arrivals"]
    assert isinstance(compute, dict)
    assert isinstance(arrivals, dict)
    out = []
    if compute.get("time"):
        out.append(f"{format_time(compute['time'])} of computing")
    shares = {"spread": "spread", "late_by": "late by", "up_to": "later by up to", "epsilon": "ε", "delta": "δ"}
    out += [f"{name} {100 * arrivals[key]:.3g} %" for key, name in shares.items() if arrivals.get(key)]
    if arrivals.get("delay"):
        out.append(f"late by {format_time(arrivals['delay'])}")
    if arrivals.get("delay_rate"):
        out.append(f"late by {format_quantity(arrivals['delay_rate'], Unit.TIME_PER_BYTE)}")
    if arrivals.get("sd"):
        out.append(f"spread {format_time(arrivals['sd'])}")
    if arrivals["model"] in ("trace", "kde"):
        out.append("arrivals as measured")
    return out


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n > 1)}"


def gpu_line(b: GpuBound) -> Text:
    """The bound for a GPU, with its formula and source."""
    head = Text(b.verdict.capitalize(), style=VERDICT_STYLE[b.verdict])
    times, least = from_to(b.iteration_s, b.iteration_s - (b.bulk_s - b.by_wave_s)), f"{100 * b.min_gain:g} %"
    compared = f"less than {least}" if b.verdict == "do not port" else f"and a port has to save {least}"
    return head.append(
        f": sent after each of {b.waves} waves of {format_time(b.wave_time_s)}, an iteration of {b.workload} on "
        f"{b.machine} gets at most {bare(100 * b.saving)} % shorter ({times}), {compared}. A bound without any time of "
        "a device: Eq. 3 of gillis2023, max(M/β - D, M/(nβ)) with D = (n - 1) waves.",
        style="default not bold",
    )
