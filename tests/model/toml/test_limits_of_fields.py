"""What a number or a list in a file may be, field by field: a limit that moves by one is seen here."""

from collections.abc import Iterator
from typing import Any, get_args

import annotated_types as limit
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from tables import table_of

from pready.model.machine import machine  # noqa: F401  (the forms of all files, which are looked for below)
from pready.model.workload import workload  # noqa: F401
from pready.validate.claims import checks, form  # noqa: F401
from pready.validate.fabrics import series  # noqa: F401

SIGNS = {limit.Ge: "ge", limit.Gt: "gt", limit.Le: "le", limit.Lt: "lt"}
SIGNS |= {limit.MinLen: "min_length", limit.MaxLen: "max_length"}
LIMITS = table_of("model/limits")


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
