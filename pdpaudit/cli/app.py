"""The application: its commands, and how a failure is told."""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import BrokenExecutor
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

import pdpaudit
from pdpaudit.cli import audit, check, claims, listing, replay, report, simulate
from pdpaudit.errors import InputError, described
from pdpaudit.registry import UserCodeError
from pdpaudit.reporting.plaintext import clip, on_terminal

__all__ = ["app", "main"]

#: Characters of a complaint.
MOST = 2000

app = typer.Typer(
    name="pdpaudit",
    help="Tries to break the privacy claims of graph-search algorithms, and says with stated "
    "confidence, or with proof, whether it could.",
    epilog="Exit status: 0 nothing violated, 1 something violated, 2 the request could not be "
    "carried out.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"pdpaudit {version('pdpaudit')}")
        raise typer.Exit


@app.callback()
def _without_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("audit", epilog=audit.EXAMPLES)(audit.audit_command)
app.command("check", epilog=check.EXAMPLES)(check.check_command)
app.command("claims", epilog=claims.EXAMPLES)(claims.claims_command)
app.command(
    "simulate",
    epilog=simulate.EXAMPLES,
    short_help="Compare a private search with one without privacy.",
)(simulate.simulate_command)
app.command("replay", epilog=replay.EXAMPLES)(replay.replay_command)
app.command("report", epilog=report.EXAMPLES)(report.report_command)
app.command("list", epilog=listing.EXAMPLES)(listing.list_command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status.

    Parameters
    ----------
    arguments : list of str, optional
        Instead of the process's own.

    Raises
    ------
    SystemExit
        Always: 0, 1 or 2, and 130 after an interruption.
    """
    try:
        status = app(args=arguments, prog_name="pdpaudit", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = "pdpaudit" if context is None else context.command_path
        said = error.format_message()
        see = f" See `{command} --help`" if said.endswith("?") else f"; see `{command} --help`"
        _complain(said.rstrip(".") + see)
        sys.exit(2)
    except UserCodeError as error:
        cause = error.__cause__ or error
        sys.stderr.writelines(traceback.format_exception(type(cause), cause, _theirs(cause)))
        _complain(f"{error}: {described(cause)}; mend the file and run again")
        sys.exit(2)
    except InputError as error:
        _complain(str(error))
        sys.exit(2)
    except BrokenExecutor:
        _complain(
            "a worker process ended at its work, so there is no result; see what it said above, or "
            "use --jobs 1 to see more"
        )
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted before anything was confirmed; nothing was written")
        sys.exit(130)
    sys.exit(status or 0)


def _theirs(error: BaseException) -> TracebackType | None:
    """Return the part of a traceback that lies in the user's code, without ours before it."""
    ours = str(Path(pdpaudit.__file__).parent)
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((ours, "<frozen importlib")) and "importlib" not in file:
            break
        trace = trace.tb_next
    return trace


def _complain(message: str) -> None:
    # Names from files come in; what would move the cursor is shown, and no name fills the screen.
    typer.echo(f"pdpaudit: {clip(on_terminal(message), MOST)}", err=True)
