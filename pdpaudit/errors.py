"""The errors a person at the terminal is meant to read."""

__all__ = ["InputError"]


class InputError(ValueError):
    """A request that could not be carried out: one line that names the cause and the remedy.

    The command line prints it and exits with status 2, without a traceback.

    Examples
    --------
    >>> raise InputError("edges.csv: no such file; check the path after --edges")
    Traceback (most recent call last):
        ...
    pdpaudit.errors.InputError: edges.csv: no such file; check the path after --edges
    """
