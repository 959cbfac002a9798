"""The command line: ``python -m pdpaudit``."""

from pdpaudit.cli.app import main

__all__ = ["main"]
