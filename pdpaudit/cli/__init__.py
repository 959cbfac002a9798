"""The command line: ``python -m pdpaudit``."""

import sys
from typing import NoReturn

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit status; see :func:`pdpaudit.cli.app.main`."""
    try:
        _refuse_missing_files(sys.argv[1:] if arguments is None else arguments)
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


def _refuse_missing_files(arguments: list[str]) -> None:
    """Leave where a name is in a file that does not exist: importing all else takes long."""
    if arguments[:1] not in (["audit"], ["check"]):
        return
    from pdpaudit.core.errors import InputError
    from pdpaudit.core.registry import check_file

    for argument in arguments[1:]:
        try:
            if "=" not in argument:
                check_file(argument)
        except OSError:  # a name that no file can have; it is said where it is looked for
            continue
        except InputError as error:
            from pdpaudit.report.blocks import on_terminal

            print(f"pdpaudit: {on_terminal(str(error))}", file=sys.stderr)  # noqa: T201
            sys.exit(2)
