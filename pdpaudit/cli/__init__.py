"""The command line: ``python -m pdpaudit``."""

import sys
from typing import NoReturn

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit status; see :func:`pdpaudit.cli.app.main`."""
    try:
        from pdpaudit.cli.app import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from pdpaudit.core.errors import described

        words = f"cannot start: {described(error)}; install it and what it needs once more"
        print(f"pdpaudit: {words}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    run(arguments)
    raise AssertionError  # it has left
