"""Results on a terminal; what is said comes from the presenter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pdpaudit.report import blocks as b
from pdpaudit.report import findings as f
from pdpaudit.report.blocks import count
from pdpaudit.report.measured import exposure_section, lead_words, search_sections, simulation_of
from pdpaudit.report.sources import replay_command
from pdpaudit.results.files import STATUS_WORDS, Fields
from pdpaudit.results.pairs import NetworkPair
from pdpaudit.results.results import CheckResult, Result, Status

STYLE: dict[Status, str] = {
    "violated": "bold red",
    "error": "bold red",
    "inconclusive": "yellow",
    "skipped": "dim",
}

#: What a screen has room for.
SHOWN_EDGES, SHOWN_TRACE, SHOWN_ROWS, SHOWN_FAMILIES = 60, 12, 10, 8


def status_text(status: Status) -> Text:
    """Return a status as its word, in its colour."""
    return Text(STATUS_WORDS[status], style=STYLE.get(status, ""))


def _indented(console: Console, words: str | Text) -> None:
    console.print(Padding(words if isinstance(words, Text) else Text(words), (0, 0, 0, 2)))


def _table(
    columns: Iterable[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    folding: int | None = 0,
    numeric: bool = False,
) -> Table:
    """Return a table of which one column, or each, gives way to a narrow terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, heading in enumerate(columns):
        justify: Literal["left", "right"] = "right" if numeric and i else "left"
        fixed = folding is not None and i != folding
        table.add_column(heading, overflow="fold", no_wrap=fixed, justify=justify)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def show_audit(
    console: Console, result: Result, named: Callable[[str], str] = lambda words: words
) -> None:
    """Print what was tried, and the verdict on each claim with its reason.

    ``named`` says how parameters are called where it is read.
    """
    rows = f.tried_rows(result.tried)
    networks = max((many for _, _, many in rows), default=1)
    where = f"; on up to {networks} networks each" if networks > 1 else ""
    if tried := f.tried_words(result.tried):
        console.print(Text(f"{tried}{':' if rows else ''}"))
    if rows:
        many = any(pairs > 1 for _, pairs, _ in rows)
        families = [f"{family} {pairs}" if many else family for family, pairs, _ in rows]
        if len(rows) > SHOWN_FAMILIES:
            rest = sum(pairs for _, pairs, _ in rows[SHOWN_FAMILIES:])
            families[SHOWN_FAMILIES:] = [f"and {count(rest)} more"]
        _indented(console, ", ".join(families) + where)
    released = result.context.get("released")
    console.print(_released(result.context) if released else _claims(result))
    for claim in result.claims:
        source = f" ({claim.source})" if claim.source else ""
        what = f"{claim.id}: " if released else ""
        console.print(Text(f"{what}{claim.statement}{source}", style="bold"))
        said = f.claim_words(claim), f.difference_words(claim), f.attack_words(claim), claim.detail
        for words in filter(None, said):
            _indented(console, named(words))
        if isinstance(claim.pair, NetworkPair) and claim.pair.network:
            _indented(console, f"Network of the pair: {claim.pair.network}.")
    if len(result.claims) > 1:
        console.print(Text(f.totals(result.claims)))
    compared = f.compared_words(result.law_compared)
    if compared:
        console.print(Text(compared))
    for remark in result.remarks:
        console.print(Text(f"Note: {named(remark)}."))
    console.print(Text(result.error_budget, style="dim"))


def show_next(console: Console, result: Result, file: str) -> None:
    """Print what to do with a result, which may be in a file."""
    replay = replay_command(result, file) if any(one.witness for one in result.claims) else ""
    for words in f.next_words(result, file, replay):
        console.print(Text(words), soft_wrap=True)


def _claims(result: Result) -> Table:
    rows = []
    for claim in result.claims:
        bound = "" if claim.lower_bound is None else f"{claim.lower_bound:.3f}"
        sure = "" if claim.confidence is None else f"{claim.confidence:g}"
        symbol = "" if claim.promise.approximate else f"{claim.promise.symbol} = "
        declared = f"{symbol}{claim.promise.value:.3f}"
        sure = "exact" if claim.exact is not None else sure
        rows.append((claim.statement, declared, bound, sure, status_text(claim.status)))
    pure = all(claim.promise.approximate for claim in result.claims)
    heading = "declared ε" if pure else "declared"
    return _table(("claim", heading, "lower bound", "confidence", "verdict"), rows)


def _released(context: Mapping[str, object]) -> Table:
    """Return the table of what may be let out, and what it costs."""
    rows = []
    for one in Fields(context, "the result", "context.").records("released"):
        status = Fields({"status": one.body.get("verdict")}, one.file, one.place).status()
        claimed = f"{one.number('claimed ε') or 0.0:.3f}"
        rows.append((one.text("observable"), claimed, one.text("measured"), status_text(status)))
    return _table(("observable", "declared ε", "measured", "verdict"), rows, folding=2)


def show_exposure(console: Console, exposure: Mapping[str, object]) -> None:
    """Print who is most exposed, how exposure is distributed, and the overall figure."""
    section = exposure_section({"exposure": exposure}, "the result", "")
    show_blocks(console, section.blocks if section else ())


def show_simulation(console: Console, simulation: Mapping[str, object]) -> None:
    """Print who was searched for, what was found within some budgets, and what it cost."""
    found = simulation_of(simulation, "the result")
    console.print(Text(lead_words(found)))
    for section in search_sections(found, ""):
        show_blocks(console, section.blocks)


def show_blocks(console: Console, blocks: Iterable[b.Block], most: int = SHOWN_ROWS) -> None:
    """Print paragraphs and tables, of a long table the first rows."""
    for block in blocks:
        if isinstance(block, b.Paragraph):
            console.print(Text(block.text))
        elif isinstance(block, b.Table):
            console.print(Text(block.caption, style="bold"))
            rows = ([str(cell) for cell in row] for row in block.rows[:most])
            console.print(_table(block.columns, rows, folding=None, numeric=block.numeric))


def show_check(console: Console, result: CheckResult) -> None:
    """Print one line for a check as soon as it is done."""
    said = result.detail or result.scope
    show_line(console, (20, 12), (result.name, status_text(result.status), said), indent=2)


def show_line(
    console: Console, widths: Sequence[int], cells: Sequence[str | Text], indent: int = 0
) -> None:
    """Print cells beside each other, of fixed widths but for the last."""
    line = Table.grid(padding=(0, 1 + bool(indent), 0, 0))
    for width in widths:
        line.add_column(width=width, no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    console.print(Padding(line, (0, 0, 0, indent)))


def show_checks_end(console: Console, result: Result, specification: str, replay: str) -> None:
    """Print the exact tables, the totals, and for each violation the pair that shows it."""
    for check in result.checks:
        for table in b.grid_tables(check) if check.name == "tightness" else ():
            # What is declared, and the largest networks: smaller ones attain no more.
            kept = tuple(dict.fromkeys((table.rows[0], table.rows[-1])))
            show_blocks(console, [replace(table, rows=kept)])
    console.print(Text(f.totals(result.checks)))
    violated = [check for check in result.checks if check.status == "violated"]
    for number, check in enumerate(violated):
        # One program is enough to start from, and keeps all on one screen.
        _show_violation(console, check, specification, with_program=number == 0)
    if violated:
        again = replay or f"pdpaudit check {specification} --seed {result.seed} --json result.json"
        console.print(Text(f"to replay: {again}"))


def _show_violation(
    console: Console, check: CheckResult, specification: str, *, with_program: bool
) -> None:
    from pdpaudit.checks import as_listing, as_python

    console.print(Text(f"{check.name}: {check.detail}", style="bold"))
    witness = check.witness
    if witness is None:
        return
    trace = str(witness.get("traceback") or "").rstrip().splitlines()
    if trace:
        _indented(console, "\n".join(trace[-SHOWN_TRACE:]))
    if len(witness["edges"]) <= SHOWN_EDGES:
        _indented(console, as_listing(witness))
        if not trace and with_program:
            program = Text(as_python(witness, specification), style="dim")
            console.print(Padding(program, (0, 0, 0, 4)))
