"""``pdpaudit report FILE…``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.cli.completing import among

__all__ = ["EXAMPLES", "report_command"]

EXAMPLES = o.examples(
    "pdpaudit report result.json -o report.html",
    "pdpaudit report a.json b.json -o report.md",
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
            help="Where to write; - for standard output. Default: report.html, or report.md.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            autocompletion=among(("html", "md")),
            help="html or md; default: by the ending of --output, else html.",
        ),
    ] = None,
    quiet: o.Quiet = False,
) -> int:
    """Write a report for people from result files.

    One page that needs nothing else: verdicts first, in words, then pictures and all numbers.
    """
    from pdpaudit.cli.output import check_writable, console
    from pdpaudit.core.errors import InputError
    from pdpaudit.report.html import render_html
    from pdpaudit.report.markdown import render_markdown
    from pdpaudit.report.sources import read_source
    from pdpaudit.results.results import write_text

    if output is None:
        output = Path("report.md" if form == "md" else "report.html")
    to_pipe = str(output) == "-"
    endings = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}
    if form is None:
        form = "html" if to_pipe else endings.get(output.suffix.lower())
        if form is None:
            raise InputError(f"{output}: end the name in .html or .md, or give --format html or md")
    if form not in ("html", "md"):
        raise InputError(f"--format {form}: choose html or md")
    check_writable(output)
    same = [path for path in files if not to_pipe and path.resolve() == output.resolve()]
    if same:
        raise InputError(f"{output}: is one of the result files; choose another --output")
    sources = [read_source(path) for path in files]
    text = render_html(sources) if form == "html" else render_markdown(sources)
    if to_pipe:
        typer.echo(text.encode("utf-8"), nl=False)  # whatever the terminal speaks
        return 0
    write_text(output, text)
    # Printed as it is, so that a path can be copied whatever the width of the terminal.
    console(quiet=quiet).print(
        f"report written to {output}", markup=False, emoji=False, soft_wrap=True
    )
    return 0
