"""``pdpaudit list``."""

from __future__ import annotations

__all__ = ["list_command"]


def list_command() -> int:
    """Show the statistics, mechanisms and attacks found, and where each comes from."""
    from typing import get_args

    from rich.table import Table

    from pdpaudit.cli.output import console
    from pdpaudit.registry import Group, registered

    screen = console()
    for group in get_args(Group):
        items = registered(group)
        if not items:
            continue
        table = Table(title=group, title_justify="left", box=None, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(style="dim", overflow="fold")
        for item in items:
            table.add_row(item.name, f"{item.place} ({item.package})")
        screen.print(table)
    return 0
