"""What a number or a list in a file may be, field by field: a limit that moves by one is seen here."""

from collections.abc import Iterator
from typing import Any, get_args

import annotated_types as limit
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pready.model.machine import machine  # noqa: F401  (the forms of all files, which are looked for below)
from pready.model.workload import workload  # noqa: F401
from pready.validate.claims import checks, form  # noqa: F401
from pready.validate.fabrics import series  # noqa: F401

SIGNS = {limit.Ge: "ge", limit.Gt: "gt", limit.Le: "le", limit.Lt: "lt"}
SIGNS |= {limit.MinLen: "min_length", limit.MaxLen: "max_length"}
LIMITS = {
    "min_length 1": "Provenance.why NetworkPath.segments Measured.file Tolerance.why OtherReading.says "
    "Claim.quantity Claim.where Claim.says Series.points Fabric.series",
    "max_length 255": "Library.name Exchange.name Fields.name",
    "min_length 1, max_length 255": "Machine.name",
    "min_length 1, max_length 64": "Fields.exchanges",
    "min_length 1, max_length 6, ge 1": "Network.extents",
    "min_length 1, max_length 3, ge 1, le 4294967295": "Fields.grid Fields.node_grid",
    "ge 0": "SizedNeighbour.to Exchange.neighbour_list Fields.neighbour_list Tolerance.relative Tolerance.absolute",
    "ge 0, lt 1": "SizeCurve.interval TeamTimes.interval",
    "gt 0": "ComputeRate.arithmetic_intensity ComputeRate.communication_intensity ComputeRate.flops_per_cycle",
    "gt 0, le 1": "Candidate.weight Fields.share Ported.share",
    "ge 1": "Network.nodes_per_switch Network.taper Captured.blocks Threads.threads Patches.cells "
    "Messages.sender_partitions Messages.receiver_partitions Run.ring Run.blocks Run.iterations Ported.iterations "
    "Window.messages Window.pairs Fan.peers Partitions.threads Broadcast.threads Broadcast.radix Tested.threads "
    "ThreadsPingPong.threads ThereAndBack.messages Tolerance.factor",
    "ge 1, le 1000000": "ComputeTime.waves Consume.threads Exchange.partitions_per_thread "
    "Exchange.transport_partitions Exchange.thread_grid Exchange.receive_partitions Exchange.neighbours "
    "Exchange.blocks Fields.threads Fields.partitions_per_thread Fields.neighbours Fields.ranks_per_node "
    "Fields.blocks Fields.thread_grid Fields.receive_partitions Fields.iterations Fields.transport_partitions",
    "ge 1, le 1000000, ge 2": "Fields.radix",
    "ge 1, le 1000000000": "Remainder.items Graded.first Graded.last Exchange.thread_shares Fields.thread_shares",
    "ge 2": "Broadcast.ranks Tested.ranks",
}


def limits(what: Any) -> Iterator[str]:
    """The limits of a field, or of a type with those of what is in it."""
    for one in (*getattr(what, "__metadata__", ()), *getattr(what, "metadata", ())):
        if isinstance(one, FieldInfo):
            yield from limits(one)
        elif type(one) in SIGNS:
            yield f"{SIGNS[type(one)]} {getattr(one, SIGNS[type(one)])}"
    for inner in [what.annotation] if isinstance(what, FieldInfo) else get_args(what):
        yield from limits(inner)


def forms(of: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    """All tables of our files."""
    for one in of.__subclasses__():
        yield one
        yield from forms(one)


def test_every_limit_is_the_one_that_is_listed() -> None:
    found = {
        f"{one.__name__}.{name}": ", ".join(dict.fromkeys(own))
        for one in forms() if one.__module__.startswith("pready.")
        for name in {*one.__annotations__} & {*one.model_fields} if (own := [*limits(one.model_fields[name])])
    }  # fmt: skip
    assert found == {field: said for said, fields in LIMITS.items() for field in fields.split()}
