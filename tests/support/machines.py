"""Machines for tests: every parameter as given, nothing else costs anything."""

from datetime import date
from typing import Any

from pready.model.machine.adapter import Adapter
from pready.model.machine.machine import Machine, load
from pready.model.toml.dotted import written
from pready.model.toml.reading import validated

CURVES = ("barrier", "contention", "waiting")
ABOUT = {"source": "assumed", "why": "test"}


def ideal(**changes: Any) -> Machine:
    """A machine that only has bandwidth; `changes` are plain SI numbers.

    L, o_s, o_r, g, G, handshake, barrier (list over 1, 2, 1024 threads), contention and waiting (same), match,
    per_entry, put, epoch, epoch_peer, link (bytes per second), progress, contexts, copy.
    """
    free = ("L", "o_s", "o_r", "g", "match", "per_entry", "put", "epoch", "epoch_peer")
    p: dict[str, Any] = {
        **dict.fromkeys(free, 0.0),
        "G": 1 / 25e9,
        **dict.fromkeys(("handshake", "link")),
        **{name: [0.0, 0.0, 0.0] for name in CURVES},
        "progress": "hardware",
        "contexts": 10_000,
        "copy": 1e300,
        **changes,
    }

    def value(x: float, unit: str) -> dict[str, str]:
        return {"value": f"{x!r} {unit}", **ABOUT}

    segment = {
        "from": "0 B",
        "protocol": "rendezvous" if p["handshake"] is not None else "short",
        **{name: value(p[name], "s") for name in ("L", "o_s", "o_r", "g")},
        "G": value(p["G"], "s/B"),
    }
    if p["handshake"] is not None:
        segment["handshake"] = value(p["handshake"], "s")
    curve = {"threads": [1, 2, 1024], **ABOUT}
    data = {
        "format": 1,
        "name": "ideal",
        "created": date(2026, 11, 20),
        "created_by": "test",
        "library": {"name": "mpich-6314"},
        "progress": {"value": p["progress"], **ABOUT},
        "contexts": {"value": p["contexts"], **ABOUT},
        "inter": {"segments": [segment], "link_bandwidth": value(p["link"] or 1 / p["G"], "B/s")},
        "threads": {name: {**curve, "time": [f"{t!r} s" for t in p[name]]} for name in CURVES},
        "matching": {"base": value(p["match"], "s"), "per_entry": value(p["per_entry"], "s")},
        "one_sided": {
            "put": {"sizes": ["1 B"], "time": [f"{p['put']!r} s"], **ABOUT},
            "epoch": value(p["epoch"], "s"),
            "epoch_peer": value(p["epoch_peer"], "s"),
        },
        "memory": {"copy_hot": value(p["copy"], "B/s"), "copy_cold": value(p["copy"], "B/s")},
    }
    return validated(Machine, data, "test machine")


def with_every_table() -> Machine:
    """MeluXina with every optional value that a machine file may have."""

    data = written(load("meluxina"))
    last = data["inter"]["segments"][-1]
    last |= {"O_r": {"value": "1 ps/B", **ABOUT}, "progress": {"value": "thread", **ABOUT}, "G_link": last["G"]}
    curve = {"sizes": ["1 KiB", "1 MiB"], "time": ["2 us", "5 us"], **ABOUT}
    data["one_sided"] |= {"put": curve, "puts": {"value": "adapter", **ABOUT}}
    data["library"]["early_send"] = {"value": True, **ABOUT}
    return validated(Machine, data, "test machine")


def with_adapter(machine: Machine, rate: str, gap: str = "0 ns", rails: int = 1) -> Machine:
    """The ranks of its nodes share one."""

    given = {"rate": rate, "gap": gap, "rails": rails}
    adapter = Adapter.model_validate({name: {"value": x, **ABOUT} for name, x in given.items()})
    return machine.model_copy(update={"adapter": adapter})
