"""Run the command line as ``python -m pdpaudit``."""

from pdpaudit.cli import main

if __name__ == "__main__":
    main()
