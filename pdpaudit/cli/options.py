"""The options that several commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pdpaudit.cli.completing import BACKENDS, among
from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from pdpaudit.core.network import Network
    from pdpaudit.io import Reading

__all__ = [
    "Backend",
    "CountContacts",
    "Edges",
    "IdColumn",
    "Infect",
    "InfectFrom",
    "Jobs",
    "Json",
    "KeepMissing",
    "LabelColumn",
    "MinWeight",
    "Names",
    "NetworkOptions",
    "Nodes",
    "Quiet",
    "Scheduler",
    "Seed",
    "Seeds",
    "Since",
    "SourceColumn",
    "Store",
    "TargetColumn",
    "TargetedValue",
    "TimeColumn",
    "Unlisted",
    "Until",
    "WeightColumn",
    "examples",
]

NETWORK = "Network"
RUN = "Run"

Edges = Annotated[
    Path | None,
    typer.Option(
        help="Network file: edge list (CSV, TSV, spaces; gzip too), GML, GraphML, GEXF, Matrix "
        "Market or Pajek.",
        rich_help_panel=NETWORK,
    ),
]
Nodes = Annotated[
    Path | None,
    typer.Option(
        help="Table of people and their labels: who is targeted, who is protected.",
        rich_help_panel=NETWORK,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(help="Column of --nodes that names the person.", rich_help_panel=NETWORK),
]
LabelColumn = Annotated[
    str, typer.Option(help="Column or attribute that holds the label.", rich_help_panel=NETWORK)
]
TargetedValue = Annotated[
    str, typer.Option(help="Label of the targeted people.", rich_help_panel=NETWORK)
]
SourceColumn = Annotated[
    str | None, typer.Option(help="Column of --edges with one end.", rich_help_panel=NETWORK)
]
TargetColumn = Annotated[
    str | None, typer.Option(help="Column of --edges with the other end.", rich_help_panel=NETWORK)
]
WeightColumn = Annotated[
    str | None, typer.Option(help="Column of --edges with the weight.", rich_help_panel=NETWORK)
]
MinWeight = Annotated[
    float | None, typer.Option(help="Drop ties of less weight.", rich_help_panel=NETWORK)
]
TimeColumn = Annotated[
    str | None, typer.Option(help="Column of --edges with the time.", rich_help_panel=NETWORK)
]
Since = Annotated[
    str | None,
    typer.Option("--from", help="Drop contacts before this time.", rich_help_panel=NETWORK),
]
Until = Annotated[
    str | None,
    typer.Option("--until", help="Drop contacts after this time.", rich_help_panel=NETWORK),
]
CountContacts = Annotated[
    bool,
    typer.Option(
        "--count-contacts",
        help="A tie weighs as much as it has rows (for --min-weight).",
        rich_help_panel=NETWORK,
    ),
]
KeepMissing = Annotated[
    bool,
    typer.Option(
        "--keep-missing", help="NA, null, - and the like are names.", rich_help_panel=NETWORK
    ),
]
Unlisted = Annotated[
    str,
    typer.Option(
        help="People without a label, or in no row of --nodes: refuse, or protected.",
        rich_help_panel=NETWORK,
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        help="Public targeted people to start from, separated by ';'. Default: the first of the "
        "largest targeted component.",
        rich_help_panel=NETWORK,
    ),
]
Infect = Annotated[
    str | None,
    typer.Option(
        metavar="P,Q,ROUNDS",
        help="Plant the targeted people by infection: probability of passing on, of becoming "
        "immune, and rounds, for example 0.3,0.3,4.",
        rich_help_panel=NETWORK,
    ),
]
InfectFrom = Annotated[
    str | None,
    typer.Option(
        help="Who is infected first. Default: whoever has most contacts.", rich_help_panel=NETWORK
    ),
]
Names = Annotated[
    bool,
    typer.Option(
        "--names",
        help="Call people by their names in --edges; default: person 0, person 1 and so on.",
        rich_help_panel=NETWORK,
    ),
]
Jobs = Annotated[
    int, typer.Option(help="Worker processes, -1 for all cores; never changes the result.")
]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep finished runs here: whatever ends the command, the same command goes on from "
        "there, to the same result.",
    ),
]
Backend = Annotated[
    str,
    typer.Option(
        autocompletion=among(BACKENDS),
        help="Where workers are: loky or multiprocessing on this machine, dask on a cluster; "
        "never changes the result.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="tcp://HOST:PORT", help="Scheduler of --backend dask."),
]
Seed = Annotated[
    int | None, typer.Option(help="Root of all randomness. Default: drawn and printed.")
]
Json = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON; - for standard output.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]


def examples(*commands: str) -> str:
    """Return examples as they stand below a command's help, each on a line of its own."""
    # After a backspace on a line of its own the lines are not joined.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


@dataclass(frozen=True)
class NetworkOptions:
    """How to read the user's network; made again from a witness by ``replay``."""

    edges: Path
    nodes: Path | None = None
    id_column: str | None = None
    label_column: str = "label"
    targeted_value: str = "target"
    source_column: str | None = None
    target_column: str | None = None
    weight_column: str | None = None
    min_weight: float | None = None
    time_column: str | None = None
    since: str | None = None
    until: str | None = None
    count_contacts: bool = False
    keep_missing: bool = False
    unlisted: str = "refuse"
    seeds: str | None = None
    infect: str | None = None
    infect_from: str | None = None
    names: bool = False

    @classmethod
    def asked_for(cls, arguments: Mapping[str, Any]) -> NetworkOptions | None:
        """Return what a command was asked to read, from its arguments; None for nothing."""
        if arguments["edges"] is None:
            if arguments["nodes"] is not None or arguments["infect"] is not None:
                raise InputError("--nodes and --infect label the people of --edges; give that too")
            if arguments["names"]:
                raise InputError("--names is about the people of --edges; give that too")
            return None
        if arguments["infect"] is not None and arguments["label_column"] != "label":
            raise InputError("--infect plants the targeted people; leave --label-column out")
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    def population(self) -> dict[str, Any] | None:
        """Return how the targeted people are planted, for a report; None where they are read."""
        if self.infect is None:
            return None
        p, q, rounds = self._infection()
        first = self.infect_from or "whoever has most contacts"
        return {"process": "infect", "p": p, "q": q, "rounds": rounds, "first": first}

    def read(self, seed: int) -> tuple[Network, list[str], NetworkOptions]:
        """Return the network, what is to be said about it, and how a result says it was read.

        Names end here unless they are asked for: the network has pseudonyms, and so have the
        options, with which it is read again as it was.
        """
        from pdpaudit.io import read_network
        from pdpaudit.report.words import NAMES_PEOPLE

        seeds = None
        if self.seeds is not None:
            seeds = [name.strip() for name in self.seeds.split(";") if name.strip()]
        reading = read_network(
            self.edges,
            nodes=self.nodes,
            id_column=self.id_column,
            label_column=self.label_column,
            targeted_value=self.targeted_value,
            source_column=self.source_column,
            target_column=self.target_column,
            weight_column=self.weight_column,
            min_weight=self.min_weight,
            time_column=self.time_column,
            since=self.since,
            until=self.until,
            count_contacts=self.count_contacts,
            keep_missing=self.keep_missing,
            unlisted=self.unlisted,
            seeds=seeds,
            plant=self._planter(seed),
            names=self.names,
        )
        banner = [NAMES_PEOPLE] if self.names else []
        said = [*banner, *reading.summary.splitlines(), *reading.notes]
        return reading.network, said, self._shown(reading)

    def _shown(self, reading: Reading) -> NetworkOptions:
        """Return these options with people called as the network calls them."""
        from pdpaudit.io import find_people

        network = reading.network
        seeds = infect_from = None
        if self.seeds is not None:
            seeds = ";".join(map(network.name, network.seeds))
        if self.infect_from is not None:
            [first] = find_people([self.infect_from], reading.names)
            infect_from = None if first is None else network.name(first)
        return replace(self, seeds=seeds, infect_from=infect_from)

    def _planter(self, seed: int) -> Any:
        """Return what labels the targeted people, if they are to be planted."""
        if self.infect is None:
            if self.infect_from is not None:
                raise InputError("--infect-from needs --infect P,Q,ROUNDS")
            return None
        p, q, rounds = self._infection()

        def plant(adjacency: Any, names: Any) -> Any:
            import numpy as np

            from pdpaudit.core.registry import resolve
            from pdpaudit.io import find_people
            from pdpaudit.sampling import stream

            source: int | None = int(np.diff(adjacency.indptr).argmax())
            if self.infect_from is not None:
                [source] = find_people([self.infect_from], names)
            if source is None:
                raise InputError(
                    f"--infect-from {self.infect_from!r}: nobody has that name in the network"
                )
            infect = resolve("populations", "infect")
            return infect(adjacency, source, p, q, rounds, stream(seed, "infect"))

        return plant

    def _infection(self) -> tuple[float, float, int]:
        """Return probability of infection, of immunity, and rounds, of ``infect``."""
        parts = (self.infect or "").split(",")
        try:
            p, q, rounds = float(parts[0]), float(parts[1]), int(parts[2])
            if len(parts) != 3:
                raise ValueError
        except (ValueError, IndexError):
            raise InputError(
                f"--infect {self.infect}: give P,Q,ROUNDS, for example 0.3,0.3,4"
            ) from None
        return p, q, rounds

    def to_json(self) -> dict[str, Any]:
        """Return how to read the network again."""
        return {
            key: str(value) if isinstance(value, Path) else value
            for key, value in vars(self).items()
            if value is not None and value is not False and (key, value) != ("unlisted", "refuse")
        }
