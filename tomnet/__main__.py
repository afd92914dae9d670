"""`python -m tomnet`: the same as `tomnet`."""

import sys

from .cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
