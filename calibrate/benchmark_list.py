"""What `pready-bench` measures, and how it sends: read from its sources, so that it is known before it is built."""

from __future__ import annotations

import re

from pready.calibrate.build import SOURCE

MEASUREMENTS = tuple(sorted(path.stem.removeprefix("measure_") for path in SOURCE.glob("measure_*.c")))
"""The measurements: a file each."""

APPROACHES = tuple(re.findall(r'^WAY\(\w+, "(.+)"\)$', (SOURCE / "approaches.def").read_text(encoding="ascii"), re.M))
"""The ways of gillis2023, Tables 1 and 2, that the measurement "approach" knows."""
