"""The application: its commands, and how a failure is reported."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

import pdpaudit
from pdpaudit.cli import audit, check, results, simulate
from pdpaudit.cli.options import flagged
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.registry import UserCodeError

#: Characters of a complaint.
MOST = 2000

#: Packages that are not called like the module that is imported.
PACKAGES = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}

#: Exit statuses of what could not be carried out, and of what was interrupted.
FAILED, INTERRUPTED = 2, 130

#: What a standard stream says that was closed, or lies on a full disk.
UNWRITABLE = (errno.EPIPE, errno.EBADF, errno.ENOSPC)

#: What the system says of a path that cannot be used; the error names it.
UNUSABLE = (errno.ENAMETOOLONG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC)

#: How letters and signs are written where the output has no room for them, as in the C locale.
SPELLED = "pdpaudit.spelled"
LETTERS = {
    **{"ε": "eps", "δ": "delta", "Δ": "Delta", "ρ": "rho", "μ": "mu", "τ": "tau", "∞": "inf"},
    **{"≤": "<=", "≥": ">=", "→": "->", "±": "+-", "…": "...", "·": "."},
}

#: Environment variable that asks for the traceback of what was unexpected.
TRACEBACK = "PDPAUDIT_TRACEBACK"

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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("audit", epilog=audit.EXAMPLES)(audit.audit_command)
app.command("check", epilog=check.EXAMPLES)(check.check_command)
app.command("claims", epilog=results.CLAIMS_EXAMPLES)(results.claims_command)
app.command(
    "simulate",
    epilog=simulate.EXAMPLES,
    short_help="Compare a private search with one without privacy.",
)(simulate.simulate_command)
app.command("replay", epilog=results.REPLAY_EXAMPLES)(results.replay_command)
app.command("report", epilog=results.REPORT_EXAMPLES)(results.report_command)
app.command("list", epilog=results.LIST_EXAMPLES)(results.list_command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    codecs.register_error(SPELLED, _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors=SPELLED)
    try:
        status = _run(arguments)
        if sys.stdout is not None:  # what is still kept back may not be writable
            sys.stdout.flush()
    except KeyboardInterrupt:
        status = _interrupted()
    except BaseException as error:
        status = 0 if _completed(error) else _unexpected(error)
    _discard_closed()
    sys.exit(status)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    return "".join(LETTERS.get(one, "?") for one in signs), error.end


def _run(arguments: list[str] | None) -> int:
    """Run a command; return its status, also where the request was at fault."""
    lines: list[str] = []
    try:
        return int(app(args=arguments, prog_name="pdpaudit", standalone_mode=False) or 0)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = "pdpaudit" if context is None else context.command_path
        message = error.format_message()
        see = f" See `{command} --help`" if message.endswith("?") else f"; see `{command} --help`"
        said = message.rstrip(".") + see
    except UserCodeError as error:
        cause = error.__cause__ or error
        lines = traceback.format_exception(type(cause), cause, _theirs(cause))
        said = f"{error}: {described(cause)}; {_remedy(cause)}"
    except InputError as error:
        said = flagged(error)
    except BrokenExecutor:
        said = (
            "a worker process ended at its work, so there is no result; see what it said above, or "
            "use --jobs 1 to see more"
        )
    except typer.Abort:
        return _interrupted()
    _complain(said, before=lines)
    return FAILED


def _remedy(error: BaseException) -> str:
    """Say what to do about an error in the user's code: install what is missing, or fix it."""
    package = str(getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package and find_spec(package) is None:
        name = PACKAGES.get(package, package)
        return f"{package} is not installed: run `pip install {name}`, or correct its name"
    return "fix the file and run again"


def _interrupted() -> int:
    _complain("interrupted before anything was confirmed; nothing was written")
    return INTERRUPTED


def _unexpected(error: BaseException) -> int:
    """Say in one line what nobody expected, and what to report."""
    asked = bool(os.environ.get(TRACEBACK))
    cause = error.__context__ if isinstance(error, SystemExit) else error
    if isinstance(cause, BrokenPipeError):
        return FAILED  # whoever read it has enough, and asks for no complaint
    if isinstance(cause, FileNotFoundError) and not _has_folder():
        said = "the current folder no longer exists; change to another"
    elif isinstance(cause, OSError) and cause.errno in UNUSABLE and cause.filename:
        said = f"{cause.filename}: {cause.strerror}; choose another path"
    elif isinstance(cause, OSError) and cause.errno in UNWRITABLE:
        said = f"the output cannot be written ({cause.strerror})"
    elif isinstance(error, MemoryError):
        said = "out of memory; give a smaller network, fewer --samples or fewer --jobs"
    else:
        more = "" if asked else f", with what {TRACEBACK}=1 in the environment adds"
        said = (
            f"unexpected {described(error)} (at {_place(error)}); please report this line and the "
            f"command{more}"
        )
    _complain(said, before=traceback.format_exception(error) if asked else ())
    return FAILED


def _has_folder() -> bool:
    """Say whether the folder that the command was started in is still there."""
    with suppress(FileNotFoundError):
        return bool(os.getcwd())
    return False


def _completed(error: BaseException) -> bool:
    """Whether Typer leaves after showing a shell's completion; others' code has no say here."""
    if not isinstance(error, SystemExit) or error.code not in (0, None):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and str(frames[-1].f_globals.get("__name__")).startswith("typer.")


def _place(error: BaseException) -> str:
    """Return file and line where an error was raised."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        file = Path(frame.f_code.co_filename)
        return f"{file.parent.name}/{file.name}:{line}"
    return "an unknown place"


def _discard_closed() -> None:
    """Let Python's last flush of a stream that takes nothing more not change the exit status."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            setattr(sys, name, None)


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


def _complain(message: str, before: Sequence[str] = ()) -> None:
    # Names from files come in; what would move the cursor is shown, and no name fills the screen.
    from pdpaudit.report.blocks import clip, on_terminal

    line = f"pdpaudit: {clip(on_terminal(message), MOST)}"
    with suppress(OSError, ValueError):  # nobody reads it; the status still says it
        typer.echo("".join([*before, line]), err=True)
