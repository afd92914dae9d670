"""`python -m tomnet`: the same as `tomnet`."""

from .cli import main

if __name__ == "__main__":
    main()
