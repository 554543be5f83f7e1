from typing import Any

import pytest
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.sst.topology import topology

NAMES = ("single", "torus", "fattree", "fattree:2", "fattree:4:adaptive", "dragonfly", "dragonfly:valiant", "hyperx")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ranks", [2, 3, 7, 8, 16, 64, 100, 512])
def test_there_is_room_for_all_ranks(name: str, ranks: int) -> None:
    made = topology(name, ranks)
    assert ranks <= made.hosts <= max(3 * ranks, 8)


@pytest.mark.parametrize(("name", "ranks", "expected"), table_of("sst/topologies")["settings"])
def test_settings(name: str, ranks: int, expected: dict[str, Any]) -> None:
    assert topology(name, ranks).settings.items() >= expected.items()


@pytest.mark.parametrize(("name", "ranks", "expected"), table_of("sst/topologies")["all_settings"])
def test_all_settings(name: str, ranks: int, expected: dict[str, Any]) -> None:
    assert topology(name, ranks).settings == expected


def test_a_dragonfly_has_links_between_all_groups() -> None:
    for ranks in (2, 8, 64, 512, 1000):
        s, names = topology("dragonfly", ranks).settings, ("routers_per_group", "num_groups", "intergroup_links")
        p, a, g, links = (int(str(s[k])) for k in ("hosts_per_router", *names))
        assert (g - 1) * links <= a * p  # h = p global links per router
        assert g >= 2


@pytest.mark.parametrize(("name", "ranks", "message"), table_of("sst/refused")["topologies"])
def test_what_does_not_fit_is_named(name: str, ranks: int, message: str) -> None:
    with pytest.raises(PreadyError) as error:
        topology(name, ranks)
    assert message in str(error.value)


def test_a_title_names_hosts_and_routing() -> None:
    assert topology("dragonfly:adaptive", 512).title == "dragonfly of 512 hosts, adaptive routing"
