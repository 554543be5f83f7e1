"""The fields of our files, from the tables that check them: for the reference."""

from __future__ import annotations

import ast
import inspect
import types
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pready.model.common.units import Unit
from pready.model.toml.provenance import Value


@dataclass(frozen=True)
class FileField:
    """One field as a user writes it."""

    name: str
    takes: str
    """Valid values, in words."""
    default: str | None
    """As in a file; None: the field is required, empty: absent."""
    meaning: str
    tables: tuple[type[BaseModel], ...] = ()
    """The tables that it may contain."""


@dataclass(frozen=True)
class FileTable:
    """One table of a file: its dotted name, empty at the top, and its variant if there are several."""

    name: str
    variant: str
    meaning: str
    fields: tuple[FileField, ...] = field(default=())


def file_tables(top: type[BaseModel]) -> list[FileTable]:
    """Every table of a file, in order, each once."""
    out: list[FileTable] = []
    seen: set[type[BaseModel]] = set()

    def add(table: type[BaseModel], name: str) -> None:
        if table in seen:
            return
        seen.add(table)
        fields = _fields(table)
        tags = get_args(table.model_fields["model"].annotation) if "model" in table.model_fields else ()
        variant = " or ".join(f'model = "{tag}"' for tag in tags)
        out.append(FileTable(name, variant, inspect.cleandoc(table.__doc__ or ""), fields))
        for f in fields:
            for inner in f.tables:
                add(inner, f"{name}.{f.name}" if name else f.name)

    add(top, "")
    return out


def _fields(table: type[BaseModel]) -> tuple[FileField, ...]:
    said = _docstrings(table)
    out = []
    for name, info in table.model_fields.items():
        if info.exclude:
            continue
        annotation: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
        meaning = said.get(name) or info.description or ""
        out.append(FileField(info.alias or name, takes(annotation), _default(info), meaning, tuple(_inner(annotation))))
    return tuple(out)


@cache
def _docstrings(table: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field in the source, those of bases included."""
    out: dict[str, str] = {}
    for cls in reversed(table.__mro__):
        if not (issubclass(cls, BaseModel) and cls.__module__.startswith("pready.")):
            continue
        (definition,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(cls))).body
        assert isinstance(definition, ast.ClassDef)
        for one, below in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and (text := _text(below)):
                out[one.target.id] = " ".join(text.split())
    return out


def _text(node: ast.stmt) -> str | None:
    """A statement that is nothing but a string."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None


def _default(info: FieldInfo) -> str | None:
    if info.is_required():
        return None
    value = info.default
    return "" if value is None or isinstance(value, (BaseModel, tuple)) else _toml(value)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _inner(annotation: Any) -> list[type[BaseModel]]:
    """The tables that a field may hold; a `Value` is no table to a reader."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [] if issubclass(annotation, Value) else [annotation]
    arguments = get_args(annotation)
    return [t for a in (arguments[:1] if get_origin(annotation) is Annotated else arguments) for t in _inner(a)]


def takes(annotation: Any) -> str:
    """What is valid, in words: ``integer of at least 1``, ``a time, such as "1.22 us"``."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        units = [m for m in arguments[1:] if isinstance(m, Unit)]
        if units:
            return f'a {units[0].name.lower().replace("_", " ")}, such as "{units[0].example}"'
        return takes(arguments[0]) + _limits(arguments[1:])
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(takes(a) for a in arguments if a is not type(None)))
    if origin is Literal:
        return " or ".join(_toml(a) for a in arguments)
    if origin is tuple:
        inner = [takes(a) for a in arguments if a is not Ellipsis]
        return f"a list of {inner[0]}" if Ellipsis in arguments else f"a list of {len(inner)}: {inner[0]}"
    if isinstance(annotation, type) and issubclass(annotation, Value):
        more = [name for name in annotation.model_fields if name not in Value.model_fields]
        return f"a value ({', '.join(['value', 'interval', 'source', 'why', *more])}): {takes(annotation.holds())}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "a table"
    words = {int: "an integer", float: "a number", str: "text", bool: "true or false", date: "a date"}
    return words.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _limits(metadata: tuple[Any, ...]) -> str:
    every = [m for one in metadata for m in (one.metadata if isinstance(one, FieldInfo) else [one])]
    said = []
    for m in every:
        match m:
            case Ge():
                said.append(f"at least {m.ge}")
            case Gt():
                said.append(f"greater than {m.gt}")
            case Le():
                said.append(f"at most {m.le}")
            case Lt():
                said.append(f"less than {m.lt}")
            case MinLen() if m.min_length > 1:
                said.append(f"at least {m.min_length} of them")
            case MaxLen():
                said.append(f"at most {m.max_length} of them")
            case _:
                pass
    return f" ({', '.join(said)})" if said else ""
