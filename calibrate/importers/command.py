"""What a run was, from its command and the allocation around it: nodes, ranks of a node, settings of the library.

`-N` is nodes for srun, flux and lrun, and ranks of a node for Open MPI's mpirun and aprun. A command that does not say
on how many nodes its ranks are is as the allocation before it says, if that is of one node.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LAUNCHERS = (
    r"srun|salloc|sbatch|flux (?:alloc|run|mini run)|lrun|mpirun|mpiexec(?:\.hydra|_mpt)?|orterun|prterun|aprun|jsrun"
    r"|mpirun_rsh|ibrun|ccc_mprun|yhrun"
)
_COMMAND = re.compile(
    rf"(?P<before>.*?)(?:^|[\s;&|`(/])(?P<launcher>{_LAUNCHERS})\s+(?=-|\S*(?:osu_|IMB-|/))(?P<rest>.*)", re.I
)
_OF_MANY = re.compile(r"mbw|multi|IMB", re.IGNORECASE)
"""Programs of more than two ranks."""
_PROGRAM = re.compile(r"osu_\w+|IMB-\w+|netgauge|omb\w*|\w*(?:bench|latency|_bw)\w*", re.IGNORECASE)
_SHELL = re.compile(r"(?:\S*/)?(?:bash|sh|zsh|csh|tcsh|\$SHELL)$")
_ALLOCATED = re.compile(
    r"^#\s?(?:SBATCH|FLUX:|flux:)\s+(?:.*\s)?(?:-N\s?|--nodes[= ])(?P<a>\d+)\b|^#BSUB\s+(?:.*\s)?-nnodes\s+(?P<b>\d+)"
    r"|^#PBS\s+(?:.*\s)?-l\s+(?:select|nodes)=(?P<c>\d+)\b(?!\S*\+)|^#PJM\s+.*-L\s+\"?node=(?P<d>\d+)\b"
    r"|\bqsub\s.*-l\s+(?:select|nodes)=(?P<e>\d+)\b(?!\S*\+)|\bbsub\s.*-nnodes\s+(?P<f>\d+)"
    r"|\bSLURM_(?:JOB_NUM_NODES|NNODES)=(?P<g>\d+)\b"
)
_ALLOCATES = ("salloc", "sbatch", "flux alloc")
_VARIABLE = re.compile(r"(?:OMPI|UCX|FI|MPICH|I_MPI|PMIX|MV2|MVAPICH|PSM\d?|HCOLL|NCCL|GNI|MPIR)_\w+=\S+")
_EXPORTED = re.compile(rf"(?:export|setenv|declare -x)\s+({_VARIABLE.pattern.replace('=', '[= ]')})")
_MODULE = re.compile(r"\bmodule\s+(?:load|swap|switch|add)\s+(?P<names>.*(?:mpi|ucx|fabric|cxi|mvapich).*)", re.I)
_ONE_RANK_EACH = {"-pernode", "--pernode", "--bynode", "-bynode"}
_BY_SOCKET = re.compile(r"ppr:\d+:(?:socket|package|numa|l3cache|core|hwthread)")


@dataclass(frozen=True)
class Command:
    """A launcher's command line: whether all ranks are on one node, of how many (None: it does not say), and what it
    sets of the library, sorted: MCA parameters and environment variables."""

    text: str
    one_node: bool | None = None
    nodes: int | None = None
    settings: tuple[str, ...] = ()


def _launched(text: str) -> tuple[re.Match[str] | None, list[str]]:
    """A launcher's command line, and the words after the launcher."""
    match = _COMMAND.fullmatch(text)
    if match is None:
        return None, []
    try:
        return match, shlex.split(match["rest"])
    except ValueError:
        return match, match["rest"].split()


def allocated(text: str) -> int | None:
    """How many nodes a line of a job script, or an allocating command, asks for; None: it asks for none."""
    if match := _ALLOCATED.search(text):
        return int(next(g for g in match.groups() if g)[:9])
    match, words = _launched(text)
    launcher = match["launcher"].lower() if match else ""
    if launcher in _ALLOCATES or (words and _SHELL.match(words[-1]) and "--pty" in words):
        return _count(words, "-N", "--nodes")
    return None


def exported(text: str) -> dict[str, str]:
    """What a line sets for the commands after it: a variable of the library's, or the library by its module."""
    if match := _EXPORTED.search(text):
        return {re.split("[= ]", match[1])[0]: match[1]}
    return {"module": match["names"]} if (match := _MODULE.search(text)) else {}


def parsed(text: str, nodes: int | None, exported: Sequence[str] = ()) -> Command | None:
    """The command that a line is, within an allocation of so many nodes; None: it is none, or starts no benchmark."""
    match, words = _launched(text)
    places = (i for i, w in enumerate(words) if not w.startswith("-"))  # an option may name a job after a benchmark
    at = next((i for i in places if _PROGRAM.search(words[i].rsplit("/", 1)[-1]) or words[i].endswith(".sh")), None)
    if match is None or at is None:
        return None
    own, launcher = words[:at], match["launcher"].lower()
    if launcher in _ALLOCATES:
        return parsed(match["rest"], nodes, exported)
    for k, word in enumerate(words[at:], start=at):  # programs of other ranks
        own += words[k:] if word == ":" else []
    wanted, one = _placed(own, launcher, many=bool(_OF_MANY.search(words[at])))
    if wanted is None and one is None and nodes == 1:
        wanted, one = 1, True
    folder = match["before"].split()[-1:] if text[match.start("launcher") - 1] == "/" else []
    settings = *folder, *exported, *_settings(own, match["before"])
    return Command(" ".join([*exported, text]), one, wanted, tuple(sorted({*settings})))


def _placed(words: Sequence[str], launcher: str, *, many: bool) -> tuple[int | None, bool | None]:
    """Nodes, and whether all ranks are on one; None each: not said. `many`: of a program of more than two ranks."""
    also = ["-c"] if launcher.startswith("mpi") else []
    said = map(_whole, _values(words, "-n", "-np", "--np", "--ntasks", "--n", *also))
    counts = [n for n in said if n is not None]
    ranks, given = sum(counts) or 2, bool(counts)
    hosts = ",".join(_values(words, "-H", "-host", "--host", "-hosts", "--hosts", "-w", "--nodelist"))
    if launcher in ("srun", "flux run", "flux mini run", "lrun", "yhrun", "ccc_mprun"):
        nodes, most = _count(words, "-N", "--nodes"), _count(words, "--ntasks-per-node")
        if nodes is None and given and most and ranks > most:
            nodes = -(-ranks // most)
        spread = False if re.search(r",|\[", hosts) else None
        return nodes, spread if nodes is None else nodes == 1 and ranks > 1
    if launcher == "jsrun":
        sets, each = _count(words, "-n", "--nrs"), _count(words, "-a", "--tasks_per_rs") or 1
        per_host = _count(words, "-r", "--rs_per_host")
        ranks, per_node = (sets or 2) * each, None if per_host is None else per_host * each
        per_node = ranks if per_node is None and sets == 1 else per_node
    else:
        per_node = _count(words, "-N", "-npernode", "--npernode", "-ppn", "--ppn", "-perhost", "--ntasks-per-node")
        by = _value(words, "--map-by", "-map-by", "--mapby") or ""
        if _ONE_RANK_EACH & {*words} or re.split("[,:]", by)[0] in ("node", "bynode"):
            return (None, False) if ranks > 1 else (1, True)
        if found := re.match(r"ppr:(\d{1,6}):node", by):
            per_node = int(found[1])
        elif _BY_SOCKET.match(by) and ranks == 2:
            return 1, True
    if per_node:
        nodes = -(-ranks // per_node)
        return (nodes, nodes == 1) if given or not many else (None, None)
    if launcher == "mpirun_rsh":
        before = zip(["", *words], words, strict=False)
        hosts = ",".join(w for b, w in before if not re.match("-n|-hostfile", b) and not re.match("-|.*=", w))
    if not hosts:
        return None, None
    if "[" in hosts:
        return None, False
    slots: dict[str, int] = {}
    for host in hosts.split(","):
        name, _, count = host.partition(":")
        slots[name] = slots.get(name, 0) + (1 if (n := _whole(count)) is None else n)
    # Ranks fill a host's slots before they go to the next.
    one = len(slots) == 1 or ("hosts" not in " ".join(words) and next(iter(slots.values())) >= ranks)
    return (1 if one else len(slots)), one


def _values(words: Sequence[str], *names: str) -> Iterator[str]:
    """The values of an option: after it, after an equals sign, or, of one letter, attached to it."""
    for i, word in enumerate(words):
        for name in names:
            if word == name and i + 1 < len(words):
                yield words[i + 1]
            elif word.startswith(f"{name}=") or (len(name) == 2 and re.fullmatch(rf"{name}\d+", word)):
                yield word[len(name) :].lstrip("=")


def _value(words: Sequence[str], *names: str) -> str | None:
    return next(_values(words, *names), None)


def _whole(text: str) -> int | None:
    """A number of ranks; None: no number, such as ², or more than there can be."""
    return int(text) if re.fullmatch(r"\d{1,9}", text) else None


def _count(words: Sequence[str], *names: str) -> int | None:
    found = re.match(r"\d{1,9}", _value(words, *names) or "")
    return int(found[0]) if found else None


def _settings(words: Sequence[str], before: str) -> tuple[str, ...]:
    found = set(_VARIABLE.findall(before))
    for i, word in enumerate(words):
        if word.lstrip("-") in ("mca", "gmca", "genv", "env", "pmca") and i + 2 < len(words):
            found.add(f"--mca {words[i + 1]} {words[i + 2]}" if "mca" in word else f"{words[i + 1]}={words[i + 2]}")
        elif found_here := _VARIABLE.search(word):
            found.add(found_here.group())
    return tuple(sorted(found))
