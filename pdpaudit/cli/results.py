"""``pdpaudit report FILE…`` and ``pdpaudit replay FILE``: what is done with results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from pdpaudit.core.network import Network
    from pdpaudit.outputs import JSON

#: What can be written, and the file it is written to where none is named.
FORMS = {
    "html": "report.html",
    "md": "report.md",
    "sarif": "report.sarif",
    "checklist": "checklist.md",
}

ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".sarif": "sarif"}

REPORT_EXAMPLES = o.examples(
    "pdpaudit report result.json -o report.html",
    "pdpaudit report a.json b.json -o report.md",
    "pdpaudit report result.json --sarif",
)


def report_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Results written with --json; several become one report."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write; - for standard output. Default: report.html, report.md, …",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            autocompletion=o.among(tuple(FORMS)),
            help="html, md, sarif (alerts for a code host) or checklist (the questions of "
            "guidelines for reviewers); default: by the ending of --output, else html.",
        ),
    ] = None,
    sarif: Annotated[bool, typer.Option("--sarif", help="The same as --format sarif.")] = False,
    checklist: Annotated[
        bool, typer.Option("--checklist", help="The same as --format checklist.")
    ] = False,
    quiet: o.Quiet = False,
) -> int:
    """Write a report for people from result files.

    One page that needs nothing else: verdicts first, in words, then pictures and all numbers.
    """
    from pdpaudit.cli.output import check_writable, console
    from pdpaudit.report import rendering
    from pdpaudit.report.sources import read_source
    from pdpaudit.results.files import write_text

    asked = [
        name
        for name, given in (("sarif", sarif), ("checklist", checklist), (form, form is not None))
        if given
    ]
    if len(set(asked)) > 1:
        raise InputError("--format, --sarif and --checklist: give one of them")
    form = asked[0] if asked else None
    if form is not None and form not in FORMS:
        raise InputError(f"--format {form}: choose one of {', '.join(FORMS)}")
    if output is None:
        output = Path(FORMS[form or "html"])
    to_pipe = str(output) == "-"
    if form is None:
        form = "html" if to_pipe else ENDINGS.get(output.suffix.lower())
        if form is None:
            raise InputError(
                f"{output}: end the name in .html, .md or .sarif, or give --format html or md"
            )
    check_writable(output)
    same = [path for path in files if not to_pipe and realpath(path) == realpath(output)]
    if same:
        raise InputError(f"{output}: is one of the result files; choose another --output")
    sources = [read_source(path) for path in files]
    text = rendering.RENDER[form](sources)
    if to_pipe:
        typer.echo(text.encode("utf-8"), nl=False)  # whatever the terminal speaks
        return 0
    write_text(output, text)
    # Printed as it is, so that a path can be copied whatever the width of the terminal.
    console(quiet=quiet).print(
        f"report written to {output}", markup=False, emoji=False, soft_wrap=True
    )
    return 0


REPLAY_EXAMPLES = o.examples(
    "pdpaudit replay result.json",
    "pdpaudit replay result.json --trust",
    "pdpaudit replay result.json --edges edges.csv --nodes nodes.csv",
)

#: What a result says of a replay, by whether it reproduced.
VERDICT = {True: "reproduced", False: "NOT REPRODUCED", None: "not replayed"}


def replay_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A result written with --json.")],
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Import and run the code that the result names, beyond what is installed: yours, "
            "or code you have read.",
        ),
    ] = False,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="Where the network is that the result only names; default: beside the result."
        ),
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(help="Where its table of people is; default: beside the result."),
    ] = None,
    jobs: o.Jobs = -1,
    quiet: o.Quiet = False,
) -> int:
    """Re-run the witnesses of a result.

    Whatever the result shows is computed again and compared: of each witness it is said whether it
    is reproduced, and why not. Exit status 0 when all are reproduced, 1 when one is not.
    """
    from rich.text import Text

    from pdpaudit.cli.output import console
    from pdpaudit.replay import finder, replay_result, terms_of
    from pdpaudit.results.files import load
    from pdpaudit.sampling import backend

    body = load(file)
    read = _reader(file, edges, nodes)
    terms = terms_of(body, str(file), read, jobs=jobs, find=finder(trust=trust))
    with backend():
        replays = replay_result(body, file.name, terms)
    screen = console(quiet=quiet)
    for one in replays:
        screen.print(Text(f"{one.subject}: {VERDICT[one.reproduced]}: {one.why}"))
    return 1 if any(one.reproduced is False for one in replays) else 0


def _reader(file: Path, edges: Path | None, nodes: Path | None) -> Callable[[JSON, int], Network]:
    """Return what reads a network that a result names: beside the result, or as typed."""
    typed = {"edges": edges, "nodes": nodes}

    def place(key: str, recorded: object) -> Path:
        given = typed[key]
        if given is not None:
            return given
        name = Path(recorded).name if isinstance(recorded, str) and "\0" not in recorded else ""
        found = file.parent / name
        # A link beside the result may lead anywhere.
        if not name or found.is_symlink() or not found.is_file():
            raise InputError(
                f"{file}: names its network's {key} file, which is not beside it; give --{key} FILE"
            )
        return found

    def read(body: JSON, seed: int) -> Network:
        known = {field.name for field in fields(o.NetworkOptions)}
        if "edges" not in body or not known.issuperset(body):
            raise KeyError("file")
        where = {key: place(key, body[key]) for key in ("edges", "nodes") if key in body}
        if not all(isinstance(value, str | float | int) for value in body.values()):
            raise TypeError("file")
        options = replace(o.NetworkOptions(where["edges"]), **{**body, **where})
        try:
            return options.read(seed)[0]
        except InputError:
            # What a reader says of a file quotes it.
            named = " and ".join(str(path) for path in where.values())
            raise InputError(
                f"{named}: cannot be read as the result says the network was; give the file that "
                "was audited with --edges and --nodes"
            ) from None

    return read
