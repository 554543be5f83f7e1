"""What holds for every test."""

import gc
import os
from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import settings

pytest_plugins = ["needs", "predicted_once"]

# No test is about time: on a busy machine, or with a library's first import in it, an example may take long.
# The same examples in each run, so that what fails fails again; others: pytest --hypothesis-profile others.
EXAMPLES = round(50 * float(os.environ.get("PREADY_EXAMPLES", "1")))
settings.register_profile("same", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.register_profile("others", deadline=None)
settings.load_profile("same")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long first, so that no worker is left with one when the others have ended."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    thorough = Counter(item.path for item in items if item.get_closest_marker("thorough"))
    items.sort(key=lambda item: (item.path not in slow, -thorough[item.path]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Each worker imports all tests, and what that makes lives on: looking for garbage in it is a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What collecting has made lives to the end: no garbage collection walks it again, and each has more to collect."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
