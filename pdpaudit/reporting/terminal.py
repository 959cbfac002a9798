"""Results on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pdpaudit.reporting.words import VERDICT, claim_words
from pdpaudit.results import Result

__all__ = ["show_audit"]

STYLE = {"violated": "bold red", "error": "bold red", "inconclusive": "yellow"}


def show_audit(console: Console, result: Result) -> None:
    """Print what was tried, and the verdict on each claim with its reason."""
    tried = result.context["tried"]
    by = sorted(tried["by"].items(), key=lambda item: (-item[1], item[0]))
    console.print(f"tried {tried['pairs']} neighbouring pairs:", markup=False)
    families: dict[str, int] = {}
    places: set[str] = set()
    for label, count in by:
        family, _, place = label.partition(" on ")
        families[family] = families.get(family, 0) + count
        if place:
            places.add(place)
    told = ", ".join(f"{family} {count}" for family, count in families.items())
    where = f"; on {len(places)} networks" if len(places) > 1 else ""
    console.print(Padding(Text(told + where), (0, 0, 0, 2)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("claim", "declared ε", "lower bound", "confidence", "verdict"):
        table.add_column(heading, no_wrap=True)
    for claim in result.claims:
        bound = "" if claim.lower_bound is None else f"{claim.lower_bound:.3f}"
        if claim.exact is not None:
            bound += " (exact)"
        table.add_row(
            claim.statement,
            f"{claim.claimed['epsilon']:.3f}",
            bound,
            "exact" if claim.exact is not None else f"{claim.confidence or 0:g}",
            Text(VERDICT[claim.status], style=STYLE.get(claim.status, "")),
        )
    console.print(table)
    for claim in result.claims:
        console.print(Text(f"{claim.statement} ({claim.source})", style="bold"))
        console.print(Padding(Text(claim_words(claim)), (0, 0, 0, 2)))
    console.print(Text(str(result.context["error_budget"]), style="dim"))
