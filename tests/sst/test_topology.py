import pytest

from pready.model.common.errors import PreadyError
from pready.sst.topology import topology


@pytest.mark.parametrize(
    "name",
    ["single", "torus", "fattree", "fattree:2", "fattree:4:adaptive", "dragonfly", "dragonfly:valiant", "hyperx"],
)
@pytest.mark.parametrize("ranks", [2, 3, 7, 8, 16, 64, 100, 512])
def test_there_is_room_for_all_ranks(name: str, ranks: int) -> None:
    made = topology(name, ranks)
    assert ranks <= made.hosts <= max(3 * ranks, 8)


def test_a_torus_is_near_cubic_unless_told() -> None:
    assert topology("torus", 64).settings["shape"] == "4x4x4"
    assert topology("torus", 8).settings == {"shape": "2x2x2", "width": "1x1x1", "local_ports": 1}
    assert topology("torus:8x8", 64).settings["shape"] == "8x8"
    assert topology("torus", 7).settings["shape"] == "7"  # 7x1x1: no cable from a router to itself


def test_a_taper_thins_the_links_up() -> None:
    # 64 ranks: 8 hosts on each of 8 edge routers.
    assert topology("fattree", 64).settings["shape"] == "8,8:8"
    assert topology("fattree:4", 64).settings["shape"] == "8,2:8"
    assert topology("fattree:2.5", 64).settings["shape"] == "8,3:8"
    # 16 hosts on each of 4 edge routers.
    assert topology("fattree:4:16", 64).settings["shape"] == "16,4:4"
    assert topology("fattree::16", 64).settings["shape"] == "16,16:4"


def test_a_dragonfly_has_links_between_all_groups() -> None:
    for ranks in (2, 8, 64, 512, 1000):
        s = topology("dragonfly", ranks).settings
        p, a, g, links = (
            int(str(s[k])) for k in ("hosts_per_router", "routers_per_group", "num_groups", "intergroup_links")
        )
        assert (g - 1) * links <= a * p  # h = p global links per router
        assert g >= 2


@pytest.mark.parametrize(
    ("name", "ranks", "message"),
    [
        ("dragonfly:4", 8, "size '4'; valid: dragonfly[:ROUTING]"),
        ("torus:4x4:adaptive", 8, "routing 'adaptive'; valid: torus has one only"),
        ("torus:2x2", 8, "a torus of 2x2 has 4 hosts; valid: at least 8"),
    ],
)
def test_what_does_not_fit_is_named(name: str, ranks: int, message: str) -> None:
    with pytest.raises(PreadyError) as error:
        topology(name, ranks)
    assert message in str(error.value)


def test_routing_is_merlins_word() -> None:
    assert topology("dragonfly:adaptive", 512).settings["algorithm"] == "adaptive-local"
    assert topology("dragonfly:adaptive", 512).title == "dragonfly of 512 hosts, adaptive routing"
    assert topology("fattree:4:16:adaptive", 64).settings == {"shape": "16,4:4", "routing_alg": "adaptive"}
    assert topology("fattree:adaptive", 64).settings["shape"] == "8,8:8"
    shape = {"shape": "8x4", "width": "1x1", "local_ports": 2}
    assert topology("hyperx:8x4:valiant", 64).settings == shape | {"algorithm": "valiant"}


def test_a_hyperx_has_as_many_hosts_on_a_router_as_routers_in_a_row() -> None:
    assert topology("hyperx", 512).settings == {"shape": "8x8", "width": "1x1", "local_ports": 8}
    assert topology("hyperx:8x1x8", 100).settings["shape"] == "8x8"
