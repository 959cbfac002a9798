"""``pdpaudit replay FILE``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pdpaudit.cli import options as o

if TYPE_CHECKING:
    from pdpaudit.network import Network

__all__ = ["EXAMPLES", "read_again", "replay_command"]

EXAMPLES = o.examples("pdpaudit replay result.json")


def replay_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A result written with --json.")],
    jobs: o.Jobs = -1,
    quiet: o.Quiet = False,
) -> int:
    """Re-run the witnesses of a result.

    Says of each whether it shows again what it showed, and why not. Exit status 0 when all are
    reproduced, 1 when one is not.
    """
    from rich.text import Text

    from pdpaudit.cli.output import console
    from pdpaudit.errors import InputError
    from pdpaudit.replay import replay_check, replay_claim
    from pdpaudit.results import load
    from pdpaudit.sampling import backend

    body = load(file)
    version, seed = body.get("versions", {}).get("pdpaudit", "unknown"), body.get("seed")
    if not isinstance(seed, int):
        raise InputError(f"{file}: its seed is missing; audit again")
    screen = console(quiet=quiet)
    with backend():
        replays = [
            replay_claim(claim, seed, version, read_again, jobs)
            for claim in body.get("claims", [])
            if claim.get("witness")
        ]
    replays += [replay_check(check) for check in body.get("checks", []) if check.get("witness")]
    if not replays:
        raise InputError(f"{file}: holds no witness, so there is nothing to replay")
    for one in replays:
        screen.print(
            Text(
                f"{one.subject}: {'reproduced' if one.reproduced else 'NOT REPRODUCED'}: {one.why}"
            )
        )
    return 0 if all(one.reproduced for one in replays) else 1


def read_again(body: Mapping[str, Any], seed: int) -> Network:
    """Read again a network that a witness only names."""
    known: dict[str, Any] = {
        key: Path(value) if key in ("edges", "nodes") else value for key, value in body.items()
    }
    return o.NetworkOptions(**known).read(seed)[0]
