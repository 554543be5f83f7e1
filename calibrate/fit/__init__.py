"""From measured times to a machine's parameters with their intervals.

    observations.py  the measurements            series.py        the four curves LogGP is read off
    loggp.py         the fit                     changepoints.py  where the protocol switches
    results.py       the fit's results           lines.py         robust straight lines
    taken_lock.py    waiting for a lock          location.py      the centre of repeated times
    sizes_to_measure.py  before and after a fit  bootstrap.py     intervals

References
----------
bellman1961     Bellman, Commun. ACM 4(6), 1961, doi:10.1145/366573.366611
efron1993       Efron & Tibshirani, An Introduction to the Bootstrap, 1993
hoefler2007     Hoefler, Lichei & Rehm, IPDPS 2007, doi:10.1109/IPDPS.2007.370593
huber1964       Huber, Ann. Math. Statist. 35, 1964, doi:10.1214/aoms/1177703732
kass1995        Kass & Raftery, JASA 90, 1995, doi:10.1080/01621459.1995.10476572
killick2012     Killick, Fearnhead & Eckley, JASA 107, 2012, doi:10.1080/01621459.2012.737745
"""

from pready.calibrate.fit.loggp import fit
from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.fit.results import Estimate, Fit, ThinDataError
from pready.calibrate.fit.sizes_to_measure import refine_sizes
from pready.calibrate.fit.taken_lock import Contended, lock_cost

__all__ = [
    "Contended",
    "Curve",
    "Estimate",
    "Fit",
    "Observations",
    "ThinDataError",
    "Train",
    "fit",
    "lock_cost",
    "refine_sizes",
]
