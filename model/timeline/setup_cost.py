"""Set-up cost of a rank: requests, windows and communicators, once before the first iteration.

By interface: a request for each message and peer at both ends, a window per rank or thread, a communicator per VCI.
Nonblocking and blocking sends have none.
"""

from __future__ import annotations

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.timeline.sampling import Sampler
from pready.model.workload.workload import Workload


def begin(sampler: Sampler, workload: Workload, approach: Approach, messages: int) -> Array:
    """Seconds of one rank that sends so many messages, the longer first iteration included: shape () or (rows,)."""
    costs, interface = sampler.machine.begin, approach.interface
    if costs is None:
        return np.asarray(0.0)
    total = np.asarray(0.0)
    if interface.partitioned:
        # One request for the whole buffer, whatever it is sent in.
        total = total + 2 * workload.peers * sampler("begin.partitioned", costs.partitioned)
    elif interface.persistent or interface.two_sided_rendezvous:
        total = total + 2 * messages * sampler("begin.persistent", costs.persistent)
    if interface.mechanism == "communicators" and approach.vcis > 1:
        total = total + approach.vcis * sampler("begin.communicator", costs.communicator)
    if interface.one_sided:
        exposed = workload.peers * workload.buffer  # what the peers put
        total = total + interface.windows(workload.threads) * sampler("begin.window", costs.window)
        total = total + exposed * sampler("begin.registration", costs.registration)
    return np.asarray(total, dtype=np.float64)
