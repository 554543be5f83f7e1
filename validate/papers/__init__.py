"""Every quantitative claim of the five papers, one TOML file per paper (`pready.validate.claims` is their form)."""

from pready.validate.claims.collection import Claims
from pready.validate.claims.form import parsed

PAPERS = ("gillis2023", "zambre2021", "marts2024", "jammer2022", "temucin2022")
_ALL = Claims("papers", PAPERS, parsed)
load, validate = _ALL.load, _ALL.validate
