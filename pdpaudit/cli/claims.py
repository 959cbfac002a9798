"""``pdpaudit claims`` and ``pdpaudit list``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rich.console import Console

    from pdpaudit.core.registry import Group
    from pdpaudit.results.results import Result

EXAMPLES = o.examples(
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
    import shlex
    import time
    from dataclasses import replace

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
    _show(screen, result)
    chosen = "".join(f" --select {name}" for name in select or ())
    whose = "" if paper == KEARNS else f" --paper {paper}"
    command = f"pdpaudit claims{whose} --seed {root}{chosen}"
    file = shlex.quote(str(output.json_file)) if output.saved else "result.json"
    output.write(screen, _described(result, f"{command} --json {file}", f"pdpaudit replay {file}"))
    if folder is not None:
        _write_dossier(result, command, folder)
        screen.print(f"dossier written to {folder}", markup=False, soft_wrap=True)
    return exit_status(result.status)


def _write_dossier(result: Result, command: str, folder: Path) -> None:
    """Write the claims' numbers, and their report as a page and as Markdown."""
    import shlex

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
    from dataclasses import replace

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
