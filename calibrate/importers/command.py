"""What a run was, from its command and the allocation around it: nodes, ranks of a node, settings of the library.

`-N` is nodes for srun, flux and lrun, and ranks of a node for Open MPI's mpirun and aprun. A command that does not say
on how many nodes its ranks are is as the allocation before it says, if that is of one node.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BY_NODES = ("srun", "flux run", "flux mini run", "lrun", "yhrun", "ccc_mprun")
_ALLOCATES = ("salloc", "sbatch", "flux alloc")
_LAUNCHERS = rf"{'|'.join(_ALLOCATES + _BY_NODES)}|mpirun(?:_rsh)?|mpiexec(?:\.hydra|_mpt)?|orterun|prterun|aprun|ibrun"
_COMMAND = re.compile(
    rf"(?P<before>.*?)(?:^|[\s;&|`(/])(?P<launcher>{_LAUNCHERS})\s+(?=-|\S*(?:osu_|IMB-|/))(?P<rest>.*)", re.I
)
_OF_MANY = re.compile(r"mbw|multi|IMB", re.IGNORECASE)  # programs of more than two ranks
_PROGRAM = re.compile(
    r"(?<!\S)(?!-)(?:\S*/)?(?:osu_\w+|IMB-\w+|netgauge|omb\w*|\w*(?:bench|latency|_bw)\w*|\S*\.sh)(?!\S)", re.I
)
_ALLOCATED = re.compile(
    r"^#\s?(?:SBATCH|FLUX:)\s+(?:.*\s)?(?:-N\s?|--nodes[= ])(\d+)\b|(?:^#BSUB\s|\bbsub\s).*-nnodes\s+(\d+)"
    r"|(?:^#PBS\s|\bqsub\s).*-l\s+(?:select|nodes)=(\d+)\b(?!\S*\+)|^#PJM\s+.*-L\s+\"?node=(\d+)\b"
    r"|\bSLURM_(?:JOB_NUM_NODES|NNODES)=(\d+)\b",
    re.IGNORECASE,
)
_VARIABLE = r"(?:OMPI|UCX|FI|MPICH|I_MPI|PMIX|MV2|MVAPICH|PSM\d?|HCOLL|NCCL|GNI|MPIR)_\w+"
_SETTING = re.compile(
    rf"(?<!\S)(?:{_VARIABLE}=\S+|--?[gp]?mca \S+ \S+|--?genv \S+ \S+|--(?:environment|container-image)[= ]\S+"
    r"|\S+\.(?:sif|simg|sqsh))"
)
"""What decides which library runs, and how: its variables and parameters, and a container."""
_EXPORTED = re.compile(
    rf"(?:export|setenv|declare -x)\s+(?P<name>{_VARIABLE})[= ]\S+"
    r"|\bmodule\s+(?:load|swap|switch|add)\s+.*(?:mpi|ucx|fabric|cxi|mvapich).*"
)


@dataclass(frozen=True)
class Command:
    """A launcher's command line: whether all ranks are on one node, of how many (None: it does not say), and what it
    sets of the library, sorted."""

    text: str
    one_node: bool | None = None
    nodes: int | None = None
    settings: tuple[str, ...] = ()


NO_COMMAND = Command("")


def allocated(text: str) -> int | None:
    """How many nodes a line of a job script, or an allocating command, asks for; None: it asks for none."""
    if match := _ALLOCATED.search(text):
        return int(next(filter(None, match.groups()))[:9])
    match = _COMMAND.fullmatch(text)
    opens = match is not None and (match["launcher"].lower() in _ALLOCATES or "--pty" in match["rest"])
    return _count(match["rest"], "-N|--nodes") if match and opens else None


def exported(text: str) -> dict[str, str]:
    """What a line sets for the commands after it: a variable of the library's, or the library by its module."""
    match = _EXPORTED.search(text)
    return {match["name"] or "module": match.group()} if match else {}


def parsed(text: str, nodes: int | None, exported: Sequence[str] = ()) -> Command | None:
    """The command that a line is, within an allocation of so many nodes; None: it is none, or starts no benchmark."""
    match = _COMMAND.fullmatch(text)
    program = _PROGRAM.search(match["rest"]) if match else None
    if match is None or program is None:
        return None
    launcher, own = match["launcher"].lower(), match["rest"][: program.start()]
    if launcher in _ALLOCATES:
        return parsed(match["rest"], nodes, exported)
    several = " : " in text  # programs of other ranks
    wanted, one = (None, None) if several else _placed(own, launcher, many=bool(_OF_MANY.search(program[0])))
    if wanted is None and one is None and nodes == 1:
        wanted, one = 1, True
    folder = match["before"].split()[-1:] if text[match.start("launcher") - 1] == "/" else []
    settings = *folder, *exported, *_SETTING.findall(f"{match['before']} {own}")
    return Command(" ".join([*exported, text]), one, wanted, tuple(sorted({*settings})))


def _placed(own: str, launcher: str, *, many: bool) -> tuple[int | None, bool | None]:
    """Nodes, and whether all ranks are on one; None each: not said. `many`: of a program of more than two ranks."""
    asked = _count(own, f"-n|-np|--np|--ntasks|--n{'|-c' * launcher.startswith('mpi')}")
    ranks, per_node = asked or 2, _count(own, "--ntasks-per-node")
    hosts = ",".join(re.findall(r"(?<!\S)(?:--?hosts?|-H|-w|--nodelist)[= ](\S+)", own))
    if launcher in _BY_NODES:
        nodes = _count(own, "-N|--nodes")
        if nodes is None and asked and per_node and ranks > per_node:
            nodes = -(-ranks // per_node)
        return nodes, nodes == 1 and ranks > 1 if nodes else False if re.search(r",|\[", hosts) else None
    per_node = per_node or _count(own, "-N|--?npernode|--?ppn|-perhost")
    if re.search(r"(?<!\S)(?:--?(?:pernode|bynode)(?!\S)|--?map-?by[= ](?:by)?node\b)", own):
        return (None, False) if ranks > 1 else (1, True)
    if found := re.search(r"--?map-?by[= ]ppr:(\d{1,6}):(node)?", own):
        if not found[2]:
            return (1, True) if ranks == 2 else (None, None)
        per_node = int(found[1])
    if per_node:
        nodes = -(-ranks // per_node)
        return (nodes, nodes == 1) if asked or not many else (None, None)
    if not hosts or "[" in hosts:
        return None, False if hosts else None
    slots: dict[str, int] = {}
    for name, _, count in (host.partition(":") for host in hosts.split(",")):
        slots[name] = slots.get(name, 0) + (int(count) if re.fullmatch(r"\d{1,9}", count) else 1)
    # Ranks fill a host's slots before they go to the next.
    one = len(slots) == 1 or ("hosts" not in own and next(iter(slots.values())) >= ranks)
    return (1 if one else len(slots)), one


def _count(text: str, names: str) -> int | None:
    """The number of an option: after it, after an equals sign, or, of one letter, attached to it."""
    found = re.search(rf"(?<!\S)(?:{names})[= ]?(\d{{1,9}})(?![\w.])", text, re.ASCII)
    return int(found[1]) if found else None
