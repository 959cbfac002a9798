"""The errors a person at the terminal is meant to read."""

__all__ = ["Exhausted", "InputError", "Misbehaviour", "ParameterError", "described"]


class InputError(ValueError):
    """A request that could not be carried out: one line that names the cause and the remedy.

    The command line prints it and exits with status 2, without a traceback.
    """


class ParameterError(InputError):
    """A parameter's value that cannot be used; the command line names its option instead."""

    def __init__(self, parameter: str, value: object, remedy: str) -> None:
        super().__init__(f"{parameter} = {value}: {remedy}")
        self.parameter, self.value, self.remedy = parameter, value, remedy


class Misbehaviour(Exception):
    """What others' code did that makes it useless; one line that says what and the remedy."""


class Exhausted(Misbehaviour):
    """A call that took more time or memory than there is: what it was asked for was too large."""


def described(error: BaseException) -> str:
    """Return what an error is and says, in one line."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # their own code says what an error says
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
