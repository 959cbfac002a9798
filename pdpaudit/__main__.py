"""Run the command line as ``python -m pdpaudit``."""

import os
import sys

if __name__ == "__main__":
    # ``python -m`` looks in the current folder first: a person's random.py would take the place of
    # Python's. The command `pdpaudit` does not look there, and modules named by a person are found.
    if not sys.flags.safe_path and (not sys.path[0] or sys.path[0] == os.getcwd()):
        del sys.path[0]

    from pdpaudit.cli import main

    main()
