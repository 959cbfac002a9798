"""What is done with results, published claims, and what there is: report, replay, claims, list."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import fields, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rich.console import Console

    from pdpaudit.core.network import Network
    from pdpaudit.core.registry import Group
    from pdpaudit.outputs import JSON
    from pdpaudit.results.results import Result

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
        Path | None, typer.Option(help="Where its table of people is; default: beside the result.")
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


CLAIMS_EXAMPLES = o.examples(
    "pdpaudit claims --select C6 --select C11 --seed 1",
    "pdpaudit claims --seed 1 --output reports/paper",
    "pdpaudit claims --paper graph --seed 1 --output reports/graph",
)


@o.grouped
def claims_command(
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLAIM",
            autocompletion=o.claims_offered,
            help="Audit this claim only, such as C2; may be repeated.",
        ),
    ] = None,
    paper: Annotated[
        str,
        typer.Option(
            metavar="PAPER",
            autocompletion=o.names_of("papers"),
            help="Whose claims; `pdpaudit list` names the papers.",
        ),
    ] = "kearns",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the dossier: claims.json, and its report as README.md and index.html.",
        ),
    ] = None,
    *,
    output: o.OutputOptions,
) -> int:
    """Audit every claim of a paper, and write the dossier."""
    from pdpaudit.auditing.published_claims import audit_claims, catalogue
    from pdpaudit.cli.output import check_writable, progress
    from pdpaudit.core.registry import KEARNS
    from pdpaudit.results.results import exit_status
    from pdpaudit.sampling import draw_seed

    began = time.monotonic()
    check_writable(output.json_file)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{folder}: cannot be made ({error.strerror}); choose another folder"
            ) from None
        check_writable(folder / "claims.json")
    root = draw_seed(output.seed)
    claims = catalogue(select, paper)
    screen = output.screen(files=folder is not None)
    screen.print(f"pdpaudit claims, seed {root}", markup=False)
    with progress(quiet=output.quiet) as watcher:
        result = audit_claims(claims, root, paper=paper, watcher=watcher)
    result = replace(result, elapsed_s=time.monotonic() - began)
    chosen = "".join(f" --select {name}" for name in select or ())
    whose = "" if paper == KEARNS else f" --paper {paper}"
    command = f"pdpaudit claims{whose} --seed {root}{chosen}"
    file = shlex.quote(str(output.json_file)) if output.saved else "result.json"
    described = _described(result, f"{command} --json {file}", f"pdpaudit replay {file}")
    output.keep(described)
    _show(screen, result)
    output.write(screen, described)
    if folder is not None:
        _write_dossier(result, command, folder)
        screen.print(f"dossier written to {folder}", markup=False, soft_wrap=True)
    return exit_status(result.status)


def _write_dossier(result: Result, command: str, folder: Path) -> None:
    """Write the claims' numbers, and their report as a page and as Markdown."""
    from pdpaudit.report.rendering import render_html, render_markdown
    from pdpaudit.report.sources import published, read_source
    from pdpaudit.results.files import save, write_text

    place = shlex.quote(folder.as_posix())
    described = _described(
        result,
        f"python -m {command} --output {place}",
        f"python -m pdpaudit replay {place}/claims.json",
    )
    save(folder / "claims.json", published(described.to_json()))
    source = read_source(folder / "claims.json")
    write_text(folder / "README.md", render_markdown([source]))
    write_text(folder / "index.html", render_html([source]))


def _described(result: Result, command: str, replay: str) -> Result:
    """Return a result with what its report says of its subject and how it was made."""
    from pdpaudit.report.sources import KEY, dossier

    return replace(result, context={**result.context, KEY: dossier(result, command, replay)})


def _show(screen: Console, result: Result) -> None:
    """Print the verdict on each claim, and why."""
    from rich.padding import Padding
    from rich.text import Text

    from pdpaudit.report.sources import composition_budgets, verdict_words
    from pdpaudit.report.terminal import show_blocks, show_line, status_text

    for entry in result.context["catalogue"]:
        said = f"{entry['statement']} ({entry['source']})"
        show_line(screen, (3, 12), (entry["id"], status_text(entry["status"]), said))
        screen.print(Padding(Text(f"tried: {entry['tried']}", style="dim"), (0, 0, 0, 4)))
        for words in verdict_words(result, entry["id"]):
            screen.print(Padding(Text(words), (0, 0, 0, 4)))
    if "composition" in result.context:
        show_blocks(screen, [composition_budgets(result.context["composition"])], 20)


LIST_EXAMPLES = o.examples("pdpaudit list")

#: What each group holds, and how it is used.
TITLES: dict[Group, str] = {
    "sops": "statistics of proximity, for check and --sop (sops)",
    "mechanisms": "mechanisms, for audit (mechanisms)",
    "attacks": "kinds of pairs an audit tries (attacks)",
    "refinements": "local moves that sharpen a pair (refinements)",
    "events": "ways to choose an event (events)",
    "networks": "networks an audit brings along (benchmark networks)",
    "populations": "ways to plant targeted people (populations)",
    "claims": "published claims, for claims --select (claims)",
    "papers": "whose claims they are, for claims --paper (papers)",
    "adapters": "libraries whose objects are mechanisms (adapters)",
}


def list_command() -> int:
    """Show what can be named, and where each comes from."""
    from rich.table import Table
    from rich.text import Text

    from pdpaudit.cli.output import console
    from pdpaudit.core.registry import registered

    screen = console()
    for group, title in TITLES.items():
        items = {item.name: item for item in registered(group)}
        if not items:
            continue
        screen.print(Text(title, style="bold"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(style="dim", overflow="fold")
        for name in o.by_number(list(items)):
            table.add_row(f"  {name}", _origin(items[name]))
        screen.print(table)
    return 0


def _origin(item: EntryPoint) -> str:
    """Return the module, the name in it where it is another, and whose package it is."""
    place = item.module if item.attr == item.name.rpartition(":")[2] else item.value
    package = item.dist.name if item.dist else "unknown"
    return place if item.module.partition(".")[0] == package else f"{place} ({package})"
