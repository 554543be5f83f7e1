"""Version strings, as the libraries print them, and what they stand for."""

import pytest
from machines import ideal
from tables import table_of

from pready.calibrate.machine.library_names import RULES, profile_of
from pready.model.advice.predict import effective_library
from pready.model.approach.libraries import LIBRARIES


@pytest.mark.parametrize(("version", "profile"), table_of("calibrate/versions")["profiles"])
def test_what_a_version_stands_for(version: str, profile: str) -> None:
    assert profile_of(version) == profile
    assert {name for _, name in RULES} <= set(LIBRARIES)


@pytest.mark.parametrize(("text", "calls"), table_of("calibrate/versions")["partitioned"])
def test_a_version_without_partitioned_calls_is_predicted_without(text: str, calls: bool) -> None:
    library = ideal().library.model_copy(update={"name": profile_of(text), "version": text, "early_send": None})
    machine = ideal().model_copy(update={"library": library})
    assert (effective_library(machine).part is not None) == calls
