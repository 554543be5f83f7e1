"""Shell completion of machines, libraries, fields, approaches and files.

Each is a click ``shell_complete``; none reads a machine file, so that completion is fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

import click
from click.shell_completion import CompletionItem


def _beginning(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _files(incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def profile_names() -> list[str]:
    """Names of the shipped machine profiles."""
    folder = resources.files("pready.model.machine") / "profiles"
    return sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml"))


def machines(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Matching profiles, else files."""
    return _beginning(profile_names(), incomplete) or _files(incomplete)


def profiles(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Matching profiles."""
    return _beginning(profile_names(), incomplete)


def libraries(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Library profiles with their titles."""
    from pready.model.approach.libraries import LIBRARIES

    return [CompletionItem(p.name, help=p.title) for p in LIBRARIES.values() if p.name.startswith(incomplete)]


def approaches(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Keys of interfaces with their names, without numbers."""
    from pready.model.approach.interfaces import INTERFACES

    return [CompletionItem(i.key, help=i.name) for i in INTERFACES if i.key.startswith(incomplete)]


def fields(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A workload's fields by dotted name, without values."""
    from pready.model.toml.schema import dotted_names
    from pready.model.workload.workload import Workload

    return [] if "=" in incomplete else _beginning((f"{name}=" for name in dotted_names(Workload)), incomplete)


def workload(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A file."""
    return _files(incomplete)
