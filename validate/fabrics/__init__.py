"""Measurements on real machines that others published, one TOML file per machine (`series.py` is their form)."""

from pready.validate.claims.collection import Claims
from pready.validate.fabrics.series import parsed

FABRICS = (
    *("alaska", "alaska-roce", "alps", "archer2", "dane", "fugaku", "hawk", "hawk-mpich", "hpc6a", "mpitut"),
    *("niagara", "summit", "tioga"),
)
_ALL = Claims("fabrics", FABRICS, parsed)
load, validate = _ALL.load, _ALL.validate
