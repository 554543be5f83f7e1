"""Pages of the site that are made from the code: commands, fields of files, libraries, terms, equations.

Each function returns Markdown. What is not here by itself when a command or a field is added is a bug.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import click
from file_tables import FileTable, file_tables
from pydantic import BaseModel
from sympy.printing.mathml import mathml

import pready
from pready.cli import COMMANDS, cli
from pready.commands.command_lines import EXAMPLES
from pready.model.approach import libraries as libraries_module
from pready.model.approach.libraries import LIBRARIES
from pready.model.common.units import format_bandwidth
from pready.model.equations.gain import DOI, EQUATIONS
from pready.model.machine import machine
from pready.model.machine import transports as transports_module
from pready.model.machine.machine import Machine
from pready.model.machine.transports import KNOWN
from pready.model.timeline.terms import TERMS
from pready.model.toml.provenance import Provenance
from pready.model.workload.workload import Workload
from pready.show.tables.library import transport_line
from pready.show.tables.machine import by_fabric, sources_of


def pages() -> dict[str, str]:
    """Every generated page by its path below ``docs/``."""
    return {
        "reference/commands.md": commands(),
        "reference/workload-file.md": fields("The workload file", Workload, WORKLOAD),
        "reference/machine-file.md": fields("The machine file", Machine, MACHINE),
        "reference/libraries.md": libraries(),
        "reference/machines.md": machines(),
        "theory/equations.md": equations(),
        "theory/terms.md": terms(),
        "api.md": api(),
    }


EARLY = {True: "sends early", False: "sends nothing early", None: "may or may not send early"}
WORKLOAD = "What an application does in a step. Text, times and sizes stand in quotes, with their unit."
MACHINE = (
    "What communication costs on a cluster. A *value* is a table `{ value, interval, source, why }`: a 95 % interval "
    "(absent: exact), where it comes from (`measured`, `literature`, `assumed`), and the command, citation or reason."
)


def commands() -> str:
    """Every command with its options and examples."""
    out = [
        "# Commands",
        "",
        "`pready COMMAND --help` says the same. Bad input is one line on standard error, status 2.",
        "",
    ]
    for path, command in _commands():
        out += [f"## pready {path}", "", _prose(command.help or ""), ""]
        usage = " ".join(command.collect_usage_pieces(click.Context(command)))
        out += ["```text", f"pready {path} {usage}", "```", ""]
        rows = [_option(p) for p in command.params if isinstance(p, click.Option)]
        if rows:
            out += ["| option | | default |", "| --- | --- | --- |", *rows, ""]
        if EXAMPLES.get(path):
            out += ["```console", *(f"$ {line}" for line in EXAMPLES[path]), "```", ""]
    return "\n".join(out)


def _commands() -> Iterator[tuple[str, click.Command]]:
    def inside(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            for name, inner in sorted(command.commands.items()):
                yield from inside(f"{path} {name}", inner)

    for name in sorted(COMMANDS):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield from inside(name, command)


def _option(option: click.Option) -> str:
    context = click.Context(click.Command("x"))
    names, said = option.get_help_record(context) or (", ".join(option.opts), option.help or "")
    said, _, default = said.partition("  [default: ")
    default = default.removesuffix("]").partition(";")[0]
    return f"| `{_cell(names)}` | {_cell(said)} | {f'`{_cell(default)}`' if default else ''} |"


def fields(title: str, top: type[BaseModel], about: str) -> str:
    """Every field of a file, table by table."""
    out = [f"# {title}", "", about, ""]
    for table in file_tables(top):
        out += [f"## {_heading(table)}", "", _prose(table.meaning), ""]
        if table.fields:
            out += ["| field | takes | default | |", "| --- | --- | --- | --- |"]
            for f in table.fields:
                default = "required" if f.default is None else f"`{f.default}`" if f.default else ""
                out.append(f"| `{f.name}` | {_cell(f.takes)} | {default} | {_cell(_code(f.meaning))} |")
            out.append("")
    return "\n".join(out)


def _heading(table: FileTable) -> str:
    name = f"`[{table.name}]`" if table.name else "At the top"
    return f"{name} with `{table.variant}`" if table.variant else name


def libraries() -> str:
    """What each MPI library does with partitioned communication."""
    out = ["# MPI libraries", "", _prose(inspect.getdoc(libraries_module) or ""), ""]
    for p in LIBRARIES.values():
        early = "does not offer it" if p.messages == "none" else EARLY[p.early]
        out += [f"## {p.name}", "", f"{p.title}. `MPI_Pready` {early}: {p.why}.", ""]
        out += [f"- Source: {p.source}"] if p.source else []
        out += [f"- {f.text()}" for f in p.facts]
        out += [f"- Needs {p.needs}; in its place: `{p.installable}`."] if p.needs else []
        out.append("")
    out += ["## What a library does over a fabric", "", _prose(inspect.getdoc(transports_module) or ""), ""]
    out += ["| library | fabric | default | source |", "| --- | --- | --- | --- |"]
    for (who, fabric), row in KNOWN.items():
        parts: dict[str, Provenance | None] = {
            "rendezvous": row.rendezvous,
            "answers": row.receiver,
            "puts": row.puts,
        }
        why = "; ".join(f"{name}: {p.source}: {p.why}" for name, p in parts.items() if p is not None)
        out.append(f"| {who} | {fabric} | {_cell(transport_line(row))} | {_cell(why)} |")
    return "\n".join(out) + "\n"


def machines() -> str:
    """The shipped profiles."""
    out = [
        "# Shipped machines",
        "",
        "Profiles of the systems of the papers and of clusters whose owners published measurements: no substitute for "
        "[measuring yours](measuring.md). `pready machines NAME` shows every value with its interval and "
        "source.",
        "",
        "| fabric | profile | bandwidth | measured, published, assumed | library | described by |",
        "| --- | --- | ---: | ---: | --- | --- |",
    ]
    for name, m in by_fabric({name: machine.load(name) for name in machine.profiles()}).items():
        values = ", ".join(map(str, sources_of(m).values()))
        figures = f"{format_bandwidth(m.bandwidth)} | {values} | `{m.library.name}`"
        out.append(f"| {m.fabric or ''} | `{name}` | {figures} | {_cell(m.description)} |")
    return "\n".join(out) + "\n"


def equations() -> str:
    """The closed forms as MathML, printed by SymPy from the expressions that compute."""
    out = [
        "# Closed forms",
        "",
        f"Eq. 1-9 of [Gillis et al., ICPP 2023](https://doi.org/{DOI}). They know bandwidth and delay, nothing else:",
        "the first estimate, and the limit that the [engine](engine.md) keeps. What is printed here is what runs:",
        "SymPy expressions, from which NumPy functions, LaTeX and this page are made.",
        "",
    ]
    for e in EQUATIONS:
        name = e.name.replace("_", " ")
        out += [
            f"## Eq. {e.number}: {'η' if name == 'eta' else name}",
            "",
            "```{raw} html",
            _math(e.symbol, e.expression),
            "```",
            "",
        ]
        if e.departure:
            out += [f"Departure from the paper: {e.departure}.", ""]
    out += ["`pready explain` prints them, `pready explain WORKLOAD` with your numbers put in.", ""]
    return "\n".join(out)


def _math(left: object, right: object) -> str:
    sides = "<mo>=</mo>".join(mathml(side, printer="presentation") for side in (left, right))
    text = f'<math display="block"><mrow>{sides}</mrow></math>'
    text = text.replace("&InvisibleTimes;", "&#8290;").replace("<mo>-</mo>", "<mo>&#8722;</mo>")
    ET.fromstring(text)  # well-formed, or the page is not built
    return text


def terms() -> str:
    """The table of cost terms."""
    out = [
        "# Cost terms",
        "",
        "One row of this table is one cost; `explain`, the advice and the machine file read it.",
        "",
    ]
    out += ["| term | symbol | what it is | in the machine file | steps |", "| --- | --- | --- | --- | --- |"]
    for t in TERMS:
        values = ", ".join(f"`{v}`" for v in t.values)
        out.append(f"| {_cell(t.name)} | `{t.symbol}` | {_cell(t.says)} | {values} | {', '.join(t.steps)} |")
    return "\n".join(out) + "\n"


def api() -> str:
    """What ``import pready`` offers, from the docstrings."""
    out = ["# Python", "", "`import pready`; loading it is cheap, each name is imported when it is used.", ""]
    for name in sorted(pready.__all__, key=str.lower):
        item = getattr(pready, name)
        if inspect.ismodule(item) or not callable(item):
            continue
        kind = "autoexception" if _is_error(item) else "autoclass" if inspect.isclass(item) else "autofunction"
        members = ["   :members:", "   :exclude-members: model_config"] if kind == "autoclass" else []
        at = f"{item.__module__}.{item.__name__}"
        out += [f"## pready.{name}", "", "```{eval-rst}", f".. {kind}:: {at}", *members, "```", ""]
    return "\n".join(out)


def _is_error(item: object) -> bool:
    return inspect.isclass(item) and issubclass(item, Exception)


def _prose(text: str) -> str:
    return _code(inspect.cleandoc(text)).replace("\b\n", "")


def _code(text: str) -> str:
    """reST's double backquotes as Markdown's single ones; a literal block keeps its ``::``."""
    return text.replace("``", "`")


def _cell(text: str) -> str:
    return (
        " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
        if "`" not in text
        else " ".join(text.split()).replace("|", "\\|")
    )
