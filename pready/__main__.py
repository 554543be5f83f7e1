"""``python -m pready``."""

import sys

from pready.cli import main

sys.exit(main())
