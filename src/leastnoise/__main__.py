"""`python -m leastnoise` is the command line."""

from leastnoise.apps.cli import main

if __name__ == "__main__":
    main()
