"""The checks by name. A check turns its arguments into one value of ours, computed by the model.

It knows nothing of the expected value. Its arguments are a table of their own, so that a claim's
mistake is an error in one line before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, get_type_hints

from pready.model.common.errors import PreadyError
from pready.model.toml.provenance import Strict
from pready.model.toml.reading import validated
from pready.validate.claims.answers import closed_forms, many_ranks, messages, overlap, profile_values, two_ranks
from pready.validate.claims.computed_once import Lab

Answer = float | bool | str
Check = Callable[[Any, Lab], Answer]

FUNCTIONS: tuple[Check, ...] = (
    closed_forms.gain,
    closed_forms.delay_rate,
    closed_forms.small_message_gain,
    closed_forms.metric,
    closed_forms.projected_speedup,
    two_ranks.prediction,
    two_ranks.fastest,
    two_ranks.advice,
    two_ranks.arrivals,
    many_ranks.simulation,
    many_ranks.run_time_ratio,
    overlap.overhead_beyond_computation,
    overlap.operations_until_the_handshake_pays,
    profile_values.machine_value,
    profile_values.library_property,
    profile_values.messages_on_the_wire,
    messages.ping_pong,
    messages.window,
    messages.fan,
    messages.time_per_message,
    messages.broadcast_time,
    messages.tested,
    messages.threads_ping_pong,
    messages.there_and_back,
)
CHECKS = {f.__name__.replace("_", " "): f for f in FUNCTIONS}


def arguments(name: str, data: dict[str, Any], source: str) -> Any:
    """The arguments of a check as its table. Raises PreadyError: one line naming `source` and the argument."""
    return validated(_table(name), data, source)


@cache
def _table(name: str) -> type[Strict]:
    table: type[Strict] = get_type_hints(CHECKS[name])["a"]
    return table


@lru_cache(maxsize=4096)
def _read(name: str, data: str) -> Any:
    """The arguments as a table, kept: wrong machines and draws of a machine ask again."""
    return arguments(name, json.loads(data), name)


def answer(name: str, data: dict[str, Any], lab: Lab) -> Answer:
    """The value of a check."""
    try:
        return CHECKS[name](_read(name, json.dumps(data, default=str)), lab)
    except PreadyError as error:
        raise error.at(name) if error.source is None else error from None
