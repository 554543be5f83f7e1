"""Reading the user's files: TOML into validated tables, errors in one line."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from stat import S_ISFIFO
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pready.model.common.errors import PreadyError, did_you_mean, printable, shown
from pready.model.common.memory import refuse_beyond
from pready.model.toml.misspelt import called_here

M = TypeVar("M", bound=BaseModel)

LARGEST_TOML = 4 * 2**20
"""Bytes. A machine or workload file is a few KiB; tomllib would take minutes over a gigabyte."""
LARGEST_DATA = 256 * 2**20
"""Bytes of a file of thread timings."""
TIMES = 8
"""Bytes of memory for each byte of a file: text as objects of Python."""
TIMES_OF_JSON = 32
"""Bytes of memory for each byte of JSON; three may be an empty list: 25 in a file of these, 10 of measured points."""
PROSE = ("description", "why")
"""Fields that may have several lines."""


def read_bytes(path: Path, largest: int, times: int = TIMES) -> bytes:
    """The file's content, refusing what cannot be a file of ours.

    Parameters
    ----------
    times
        Bytes of memory that reading takes for each byte of the file, at most.

    Raises
    ------
    PreadyError
        Missing, a directory, unreadable, larger than `largest` bytes, or more than memory has room for.
    """
    name = str(path)
    try:
        with open(path, "rb", opener=_without_waiting) as stream:
            about = os.fstat(stream.fileno())
            begin = _begin(stream.fileno(), name) if S_ISFIFO(about.st_mode) else b""
            os.set_blocking(stream.fileno(), True)
            size = about.st_size
            # A pipe or a device has no size, and may have no end; a file may grow meanwhile.
            most = min(largest, max(2 * size, LARGEST_DATA))
            _check_memory(min(size, largest), times, name)
            data = begin + stream.read(most + 1)
    except IsADirectoryError:
        raise PreadyError("is a directory", valid="a file", source=name) from None
    except FileNotFoundError:
        raise PreadyError("no such file", valid="an existing file", source=name) from None
    except PreadyError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a path with an embedded null character
        reason = getattr(error, "strerror", None) or str(error)
        raise PreadyError(f"cannot be read: {reason}", valid="a readable file", source=name) from None
    if len(data) > most:
        raise PreadyError(f"is larger than {most >> 20} MiB", valid=f"at most {most >> 20} MiB", source=name)
    _check_memory(len(data), times, name)
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Opening a pipe waits for somebody to write to it, unless asked not to."""
    return os.open(path, flags | os.O_NONBLOCK)


def _begin(pipe: int, name: str) -> bytes:
    """The first byte of a pipe, if it is there already; a pipe that nobody writes to is refused."""
    try:
        begin = os.read(pipe, 1)
    except BlockingIOError:  # somebody will write
        return b""
    if not begin:
        raise PreadyError("is a pipe that nobody writes to", valid="a file", source=name)
    return begin


def _check_memory(size: int, times: int, name: str) -> None:
    try:
        refuse_beyond(times * size, f"reading {size >> 20} MiB", "a smaller file")
    except PreadyError as error:
        raise error.at(name) from None


def decoded(data: bytes, source: str) -> str:
    """`data` as UTF-8 text, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PreadyError(f"byte {error.start} is not UTF-8", valid="UTF-8 text", source=source) from None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as nested dictionaries."""
    return parsed_toml(read_bytes(path, LARGEST_TOML), str(path))


def parsed_toml(data: bytes, source: str) -> dict[str, Any]:
    """TOML as nested dictionaries; `source` is how an error names where it came from."""
    try:
        return _parsed(decoded(data, source), source)
    except RecursionError:  # a thousand brackets, or a key of a thousand dots
        raise PreadyError("is nested too deeply", valid="the documented tables", source=source) from None


def _parsed(text: str, source: str) -> dict[str, Any]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, valid = _no_toml(str(error), text)
        raise PreadyError(f"is not TOML: {problem}", valid=valid, source=source) from None
    except ValueError as error:  # integers of more than 4300 digits
        raise PreadyError(f"is not TOML: {error}", valid="TOML", source=source) from None
    _check_printable(tables, source)
    return tables


def _no_toml(message: str, text: str) -> tuple[str, str]:
    """The error of tomllib with the line in question, and what TOML expects."""
    found = re.search(r"at line (\d+)", message)
    lines = text.splitlines()
    number = int(found[1]) if found else len(lines) if message.endswith("(at end of document)") else 0
    if not 0 < number <= len(lines):
        return message, "TOML"
    line = lines[number - 1].strip()
    if _TWICE.match(message):
        declared, inline = re.search(r"\((.*)\) twice", message), re.search(r"key '(.*)'", message)
        key = ".".join(re.findall(r"'([^']*)'", declared[1])) if declared else inline[1] if inline else ""
        key = key or line.partition("=")[0].strip(" []")
        return f"{shown(key)} is there twice, again in line {number}: {shown(line)}", "each field and table once"
    bare = re.fullmatch(r"(\w+\s*=\s*)([^\s\"'\[{#][^\"'#]*?)\s*(?:#.*)?", line)
    valid = f'{bare[1]}"{bare[2]}": texts and quantities stand in quotes' if bare else "TOML"
    return f"{message}: {shown(line)}", printable(valid)


_TWICE = re.compile("Cannot (overwrite a value|declare .* twice|mutate immutable)|Duplicate inline table key")
"""Messages of tomllib on a key that is there twice."""


def _check_printable(data: object, source: str, field: str = "") -> None:
    """Refuse texts that would move a terminal's cursor; only fields of `PROSE` may have several lines."""
    if isinstance(data, dict):
        for name, value in data.items():
            _check_printable(name, source, "a field's name")
            _check_printable(value, source, name)
    elif isinstance(data, list):
        for value in data:
            _check_printable(value, source, field)
    elif isinstance(data, str):
        text = data.replace("\n", " ").replace("\t", " ") if field in PROSE else data
        if printable(text) != text:
            valid = "printable characters" if field in PROSE else "one line of printable characters"
            raise PreadyError(f"{field} = {shown(data)}", valid=valid, source=source)


def validated(model: type[M], data: dict[str, Any], source: str) -> M:
    """`data` as a `model`; the first problem found is raised as one line.

    Raises
    ------
    PreadyError
        Naming `source`, the field's dotted path, the value and what is valid.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise one_line(error, model).at(source) from None


def one_line(error: ValidationError, model: type[BaseModel]) -> PreadyError:
    """The first problem that was found."""
    problems = error.errors(include_url=False)
    # An unknown field is often a misspelt required one: report it first, it says more.
    first = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    kind, value, context = first["type"], first.get("input"), first.get("ctx", {})
    field = _dotted(first["loc"], model, unknown=kind == "extra_forbidden")
    if kind == "extra_forbidden":
        tables, name = _spelt(model, first["loc"][:-1])[1], first["loc"][-1]
        names = [n for t in tables for n in field_names(t)]
        elsewhere = [f"{n}.{name}" for t in tables for n in _tables_with(t, name)]
        here = elsewhere[0] if len(elsewhere) == 1 else called_here(name, names) or " or ".join(elsewhere)
        meant = f" (did you mean {here}?)" if here else did_you_mean(name, names)
        return PreadyError(f"{field} is not a field{meant}", valid=", ".join(names) or None)
    if kind == "missing" and isinstance(first["loc"][-1], int):  # of so many values
        whole = first["loc"][:-1]
        wanted = len(value) + sum(p["type"] == "missing" and p["loc"][:-1] == whole for p in problems)
        return PreadyError(f"{_dotted(whole, model)} = {shown(list(value))}", valid=f"{wanted} values")
    if kind in ("too_short", "too_long"):
        side, limit = ("least", context["min_length"]) if kind == "too_short" else ("most", context["max_length"])
        valid = f"at {side} {limit} value{'s' * (limit != 1)}, not {context['actual_length']}"
        return PreadyError(f"{field} = {shown(list(value))}", valid=valid)
    if kind == "missing":
        return PreadyError(f"{field} is missing", valid=_described(model, first["loc"]))
    if kind == "union_tag_invalid":
        tag, expected = context["tag"], context["expected_tags"]
        return PreadyError(f"{field}.model = {shown(tag)}{did_you_mean(tag, _quoted(expected))}", valid=expected)
    if kind == "literal_error":
        expected = context["expected"]
        return PreadyError(f"{field} = {shown(value)}{did_you_mean(value, _quoted(expected))}", valid=expected)
    if kind == "union_tag_not_found":
        return PreadyError(f"{field}.model is missing", valid="the kind of model, such as model = 'laggard'")
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        lines = [f"{field_names(t)[0]} = {json.dumps(value)}" for t in _spelt(model, first["loc"])[1]]
        line = f" with the line {lines[0]}" if lines and isinstance(value, str) else ""
        return PreadyError(f"{field} = {shown(value)} is not a table", valid=f"a table [{field}]{line}")
    inner = context.get("error")
    if isinstance(inner, PreadyError):
        problem = inner.problem
        if problem.startswith("value = "):
            problem = f"{field} = {problem.removeprefix('value = ')}"
        elif field:
            problem = f"{field}: {problem}"
        return PreadyError(problem, valid=inner.valid)
    message = first["msg"]
    valid = message.removeprefix("Input should be ").removeprefix("Value error, ")
    for pydantics, ours in _PLAIN:
        valid = valid.replace(pydantics, ours)
    return PreadyError(f"{field} = {shown(value)}" if field else shown(value), valid=valid)


_PLAIN = (
    ("String should have", "a text of"),
    ("a valid integer", "an integer"),
    ("a valid number", "a number"),
    ("a valid string", "a text"),
    ("a valid boolean", "true or false"),
    ("a valid list", "a list"),
    ("a valid tuple", "a list"),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
)
"""Pydantic's messages in plain words."""


def _quoted(choices: str) -> list[str]:
    """The words of ``'a', 'b' or 'c'``."""
    return re.findall(r"'([^']*)'", choices)


def _dotted(loc: tuple[int | str, ...], model: type[BaseModel], *, unknown: bool = False) -> str:
    text = ""
    for part in _spelt(model, loc, unknown=unknown)[0]:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _spelt(
    model: type[BaseModel], loc: tuple[int | str, ...], *, unknown: bool = False
) -> tuple[list[int | str], list[type[BaseModel]]]:
    """`loc` without the tags that pydantic adds for unions, and the tables that it ends in; `unknown`: the last part is
    no field there."""
    here: list[type[BaseModel]] = [model]
    kept: list[int | str] = []
    for part in loc:
        if isinstance(part, int):
            kept.append(part)
            continue
        found = [i for t in here for n, i in t.model_fields.items() if part in (n, i.alias)]
        if found:
            kept.append(part)
            here = [t for i in found for t in _tables([i.annotation, *i.metadata])]
        elif unknown and part == loc[-1]:
            kept.append(part)
        else:  # a union's tag: go on in the alternative that it names
            here = [t for t in here if part in _tags(t)] or here
    return kept, here


def _tags(table: type[BaseModel]) -> tuple[str, ...]:
    info = table.model_fields.get("model")
    return tuple(getattr(info.annotation, "__args__", ())) if info else ()


def _tables(annotations: list[Any]) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found.append(annotation)
        else:
            found += _tables(list(getattr(annotation, "__args__", ())))
    return found


def _tables_with(table: type[BaseModel], name: int | str) -> list[str]:
    """Fields of a table that are tables themselves and have a field of a name."""
    inside = {n: _tables([i.annotation, *i.metadata]) for n, i in table.model_fields.items() if not i.exclude}
    return [n for n, tables in inside.items() if any(name in field_names(t) for t in tables)]


def field_names(table: type[BaseModel]) -> list[str]:
    """The fields a user may write in a table, as they are spelt in the file."""
    return [i.alias or n for n, i in table.model_fields.items() if not i.exclude]


def _described(model: type[BaseModel], loc: tuple[int | str, ...]) -> str | None:
    tables = _spelt(model, loc[:-1])[1]
    infos = (i for t in tables for n, i in t.model_fields.items() if loc[-1] in (n, i.alias))
    return next((i.description for i in infos), None)
