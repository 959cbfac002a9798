"""``pdpaudit report FILE…``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o

if TYPE_CHECKING:
    from pdpaudit.report.sources import Source

__all__ = ["EXAMPLES", "report_command"]

#: What can be written, and the file it is written to where none is named.
FORMS = {
    "html": "report.html",
    "md": "report.md",
    "sarif": "report.sarif",
    "checklist": "checklist.md",
}

ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".sarif": "sarif"}

EXAMPLES = o.examples(
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
    from pdpaudit.core.errors import InputError
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
    same = [path for path in files if not to_pipe and path.resolve() == output.resolve()]
    if same:
        raise InputError(f"{output}: is one of the result files; choose another --output")
    sources = [read_source(path) for path in files]
    text = _rendered(form, sources)
    if to_pipe:
        typer.echo(text.encode("utf-8"), nl=False)  # whatever the terminal speaks
        return 0
    write_text(output, text)
    # Printed as it is, so that a path can be copied whatever the width of the terminal.
    console(quiet=quiet).print(
        f"report written to {output}", markup=False, emoji=False, soft_wrap=True
    )
    return 0


def _rendered(form: str, sources: Sequence[Source]) -> str:
    if form == "sarif":
        from pdpaudit.report.exports import render_sarif as render
    elif form == "checklist":
        from pdpaudit.report.exports import render_checklist as render
    elif form == "md":
        from pdpaudit.report.markdown import render_markdown as render
    else:
        from pdpaudit.report.html import render_html as render
    return render(sources)
