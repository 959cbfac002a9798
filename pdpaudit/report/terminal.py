"""Results on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pdpaudit.report.attacking import attack_words
from pdpaudit.report.words import VERDICT, claim_words, compared_words
from pdpaudit.results.results import Result

__all__ = ["show_audit", "show_exposure"]

STYLE = {"violated": "bold red", "error": "bold red", "inconclusive": "yellow"}


def show_audit(console: Console, result: Result) -> None:
    """Print what was tried, and the verdict on each claim with its reason."""
    tried = result.context["tried"]
    by = sorted(tried["by"].items(), key=lambda item: (-item[1], item[0]))
    pairs = f"{tried['pairs']:,} neighbouring pair{'' if tried['pairs'] == 1 else 's'}"
    console.print(Text(f"tried {pairs}{':' if by else ''}"))
    families: dict[str, int] = {}
    places: set[str] = set()
    for label, count in by:
        family, _, place = label.partition(" on ")
        families[family] = families.get(family, 0) + count
        if place:
            places.add(place)
    told = ", ".join(f"{family} {count}" for family, count in families.items())
    where = f"; on {len(places)} networks" if len(places) > 1 else ""
    if told:
        console.print(Padding(Text(told + where), (0, 0, 0, 2)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("claim", overflow="fold")  # only this one gives way to a narrow terminal
    for heading in ("declared ε", "lower bound", "confidence", "verdict"):
        table.add_column(heading, no_wrap=True)
    for claim in result.claims:
        bound = "" if claim.lower_bound is None else f"{claim.lower_bound:.3f}"
        if claim.exact is not None:
            bound += " (exact)"
        table.add_row(
            Text(claim.statement),
            f"{claim.claimed['epsilon']:.3f}",
            bound,
            "exact" if claim.exact is not None else _confidence(claim.confidence),
            Text(VERDICT[claim.status], style=STYLE.get(claim.status, "")),
        )
    released = result.context.get("released")
    console.print(_released(released) if released else table)
    for claim in result.claims:
        source = f" ({claim.source})" if claim.source else ""
        what = f"{claim.id}: " if released else ""
        console.print(Text(f"{what}{claim.statement}{source}", style="bold"))
        for words in (claim_words(claim), attack_words(claim), claim.detail):
            if words:
                console.print(Padding(Text(words), (0, 0, 0, 2)))
    compared = compared_words(result.context)
    if compared:
        console.print(Text(compared))
    for remark in result.context.get("remarks", ()):
        console.print(Text(f"Note: {remark}."))
    console.print(Text(str(result.context["error_budget"]), style="dim"))


def _released(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of what may be let out, at what cost."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("observable", "declared ε", "measured", "verdict"):
        table.add_column(heading, no_wrap=heading != "measured")
    for row in rows:
        status = row["verdict"]
        table.add_row(
            Text(row["observable"]),
            f"{row['claimed ε']:.3f}",
            Text(row["measured"]),
            Text(VERDICT[status], style=STYLE.get(status, "")),
        )
    return table


def _confidence(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def show_exposure(console: Console, exposure: Mapping[str, Any], shown: int = 10) -> None:
    """Print who is most exposed, how exposure is distributed, and the overall figure."""
    people = exposure["most_exposed"][:shown]
    console.print(Text("exposure: exact loss of the next round, for each person", style="bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("person", "ties", "isolated", "rewired at worst", "how", "through"):
        table.add_column(heading, overflow="fold")
    for one in people:
        rewired = "" if one["rewired"] is None else f"{one['rewired']:.4f}"
        table.add_row(
            Text(one["name"]),
            str(one["degree"]),
            f"{one['isolated']:.4f}",
            rewired,
            Text(one["how"]),
            Text(one["through"]),
        )
    console.print(table)
    for name, words in (("isolated", "by being isolated"), ("rewired", "by the worst rewiring")):
        told = exposure[name]
        if told:
            shares = ", ".join(
                f"{float(share):.0%} at most {value:.4g}"
                for share, value in told["quantiles"].items()
            )
            line = (
                f"{words}, of {told['measured']:,}: {told['unaffected']:,} lose nothing; {shares}"
            )
            console.print(Padding(Text(line), (0, 0, 0, 2)))
    first = people[0]
    most = max(first["isolated"], first["rewired"] or 0.0)
    console.print(
        Text(
            f"No rewiring tried of anyone on this network loses more than {most:.4f}; "
            f"{first['name']} loses most, through: {first['through']}."
        )
    )
