"""``python -m pready``."""

import sys

from pready.cli import main

if __name__ == "__main__":  # worker processes and ranks import it, too
    sys.exit(main())
