"""`python -m psopt`."""

from psopt.cli import main

if __name__ == "__main__":
    main()
