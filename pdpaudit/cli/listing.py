"""``pdpaudit list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdpaudit.cli import options as o

if TYPE_CHECKING:
    from pdpaudit.core.registry import Registered

__all__ = ["EXAMPLES", "list_command"]

EXAMPLES = o.examples("pdpaudit list")

#: What each group holds, and how it is used.
TITLES = {
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
    from typing import get_args

    from rich.table import Table
    from rich.text import Text

    from pdpaudit.cli.output import console
    from pdpaudit.core.registry import Group, registered

    screen = console()
    for group in get_args(Group):
        items = {item.name: item for item in registered(group)}
        if not items:
            continue
        screen.print(Text(TITLES.get(group, group), style="bold"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(style="dim", overflow="fold")
        for name in o.by_number(list(items)):
            table.add_row(f"  {name}", _origin(items[name]))
        screen.print(table)
    return 0


def _origin(item: Registered) -> str:
    """Return the module, the name in it where it is another, and whose package it is."""
    module, _, attribute = item.place.partition(":")
    place = module if attribute == item.name.rpartition(":")[2] else item.place
    ours = module.partition(".")[0] == item.package
    return place if ours else f"{place} ({item.package})"
