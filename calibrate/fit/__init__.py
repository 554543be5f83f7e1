"""From measured times to a machine's parameters with their intervals.

    observations.py  the measurements            series.py        the four curves LogGP is read off
    loggp.py         the fit                     changepoints.py  where the protocol switches
    results.py       the fit's results           lines.py         robust straight lines
    other_curves.py  in flight, threads, …       location.py      the centre of repeated times
    taken_lock.py    waiting for a lock          bootstrap.py     intervals
    linearity.py     would one line have done?   sizes_to_measure.py  before and after a first fit

References
----------
bellman1961     Bellman, Commun. ACM 4(6), 1961, doi:10.1145/366573.366611
efron1993       Efron & Tibshirani, An Introduction to the Bootstrap, 1993
hoefler2007     Hoefler, Lichei & Rehm, IPDPS 2007, doi:10.1109/IPDPS.2007.370593
huber1964       Huber, Ann. Math. Statist. 35, 1964, doi:10.1214/aoms/1177703732
kass1995        Kass & Raftery, JASA 90, 1995, doi:10.1080/01621459.1995.10476572
killick2012     Killick, Fearnhead & Eckley, JASA 107, 2012, doi:10.1080/01621459.2012.737745
quandt1960      Quandt, JASA 55, 1960, doi:10.1080/01621459.1960.10482067
"""

from pready.calibrate.fit.linearity import line_test
from pready.calibrate.fit.loggp import fit
from pready.calibrate.fit.observations import (
    Curve,
    Observations,
    Train,
    Window,
)
from pready.calibrate.fit.results import (
    Contention,
    Estimate,
    Fit,
    FittedCurve,
    InFlight,
    LineTest,
    QueueCost,
    Segment,
    Thin,
    ThinDataError,
)
from pready.calibrate.fit.series import Series, derive
from pready.calibrate.fit.sizes_to_measure import default_sizes, refine_sizes
from pready.calibrate.fit.taken_lock import Contended, TakenLock, lock_cost

__all__ = [
    "Contended",
    "Contention",
    "Curve",
    "Estimate",
    "Fit",
    "FittedCurve",
    "InFlight",
    "LineTest",
    "Observations",
    "QueueCost",
    "Segment",
    "Series",
    "TakenLock",
    "Thin",
    "ThinDataError",
    "Train",
    "Window",
    "default_sizes",
    "derive",
    "fit",
    "line_test",
    "lock_cost",
    "refine_sizes",
]
