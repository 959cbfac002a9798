"""The options that several commands share, declared once for each group; what a shell completes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.registry import Group, registered

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console
    from scipy.sparse import csr_array

    from pdpaudit.core.network import Network
    from pdpaudit.io import Reading
    from pdpaudit.results.results import Result

# Written down here, as the modules that define them take a second to import; tests compare them.
BACKENDS = ("loky", "multiprocessing", "dask")
METHODS = ("exact", "clopper-pearson", "betting", "sequential")
NOISES = ("laplace", "gumbel", "exponential")
OBSERVABLES = ("queries", "examined", "truncated", "time", "representation", "all")
RELATIONS = (
    *("protected", "protected-edge", "edge", "vertex", "rewired", "secret", "add-remove"),
    *("replace", "one", "every", "L1", "L2", "explicit", "all"),
)
REGIMES = ("dominant", "several", "fragmented")
CHECKS = (
    *("finite", "deterministic", "graph-unchanged", "global-random-state", "order-independent"),
    *("label-independent", "fast-path", "targeted-sensitivity", "impact-cardinality"),
    *("tightness", "own-network"),
)

Completer = Callable[[str], list[str]]

T = TypeVar("T")


def among(words: tuple[str, ...]) -> Completer:
    """Return what completes to one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def names_of(group: Group) -> Completer:
    """Return what completes to a registered name."""

    def complete(incomplete: str) -> list[str]:
        try:
            names = [one.name for one in registered(group)]
        except InputError:  # a shell has no place for complaints
            return []
        return [name for name in by_number(names) if name.startswith(incomplete)]

    return complete


def claims_offered(incomplete: str) -> list[str]:
    """Return what completes to a published claim, whosever; the paper has an option of its own."""
    names = (name.rpartition(":")[2] for name in names_of("claims")(""))
    return [name for name in names if name.startswith(incomplete)]


def by_number(names: list[str]) -> list[str]:
    """Sort names as a person counts."""

    def key(name: str) -> list[tuple[int, int, str]]:
        parts = re.findall(r"\d+|\D+", name.lower())
        return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]

    return sorted(names, key=key)


#: How an error names a parameter.
_PARAMETER = re.compile(r"`([a-z_]+)`")

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Jobs = Annotated[
    int, typer.Option(help="Worker processes, -1 for all cores; never changes the result.")
]

# What searches are made with, whoever runs them.
Sop = Annotated[
    str | None,
    typer.Option(autocompletion=names_of("sops"), help="Statistic of proximity; default CN."),
]
Stop = Annotated[
    int | None, typer.Option(help="Stopping threshold K; default half of the vertices.")
]
Threshold = Annotated[float | None, typer.Option(help="Stopping score τ of the repaired search.")]
Noise = Annotated[
    str | None,
    typer.Option(
        autocompletion=among(NOISES),
        help="Noise of the repaired search: laplace, gumbel or exponential; default laplace.",
    ),
]
MaxDegree = Annotated[
    int | None,
    typer.Option(
        help="Public bound on every degree, a promise that all networks keep; default: one less "
        "than the vertices."
    ),
]


@cache
def _flags() -> dict[str, str]:
    """Return the option of each parameter that any command has."""
    from pdpaudit.cli.app import app

    commands = getattr(typer.main.get_command(app), "commands", {})
    return {"plant": "--infect"} | {
        str(option.name): option.opts[0]
        for command in commands.values()
        for option in command.params
        if option.opts[0].startswith("--")
    }


def flagged(message: InputError | str) -> str:
    """Return a message in which parameters, in backquotes, are named by their options."""
    if isinstance(message, ParameterError):
        message = f"`{message.parameter}` {message.value}: {message.remedy}"
    return _PARAMETER.sub(lambda name: _flags().get(name[1], name[0]), str(message))


def examples(*commands: str) -> str:
    """Return examples as they stand below a command's help, each on a line of its own."""
    # After a backspace on a line of its own the lines are not joined.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def option(default: T, text: str, *names: str, **more: object) -> T:
    """Return a field of a group: an option with that help, named as the field where not otherwise.

    What is False by default is a flag.
    """
    made: T = field(default=default, metadata={"names": names, "help": text, **more})
    return made


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take dataclasses: each of their fields is an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if kind := groups.get(parameter.name):
            types = get_type_hints(kind, include_extras=True)
            for one in fields(kind):
                annotation = types[one.name]
                if one.metadata:
                    known = {**one.metadata}
                    names = known.pop("names") or (f"--{one.name.replace('_', '-')}",)
                    annotation = Annotated[annotation, typer.Option(*names, **known)]
                made = Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default)
                options.append(made.replace(annotation=annotation))
        else:
            annotation = hints[parameter.name]
            options.append(parameter.replace(annotation=annotation, kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> int:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        return command(**given)

    run.__annotations__ = {option.name: option.annotation for option in options}
    vars(run)["__signature__"] = Signature(options)
    return run


@dataclass(frozen=True)
class WorkerOptions:
    """Where runs are drawn, and where they are kept."""

    jobs: Jobs = -1
    backend: str = option(
        "loky",
        "Where workers are: loky or multiprocessing on this machine, dask on a cluster; never "
        "changes the result.",
        autocompletion=among(BACKENDS),
    )
    scheduler: str | None = option(None, "Scheduler of --backend dask.", metavar="tcp://HOST:PORT")
    store: Path | None = option(
        None,
        "Keep finished runs here: whatever ends the command, the same command goes on from there, "
        "to the same result.",
        metavar="FILE",
    )


@dataclass(frozen=True)
class OutputOptions:
    """The seed of a result, where it goes, and what is said meanwhile."""

    seed: int | None = option(None, "Root of all randomness. Default: drawn and printed.")
    json_file: Path | None = option(
        None, "Write the result as JSON; - for standard output.", "--json"
    )
    quiet: Quiet = False

    @property
    def saved(self) -> bool:
        """Whether the result is written to a file."""
        return self.json_file is not None and str(self.json_file) != "-"

    def screen(self, *, files: bool = False) -> Console:
        """Return what a person reads: nothing where the result goes to standard output.

        Other ``files`` are written as well, or the result: then a closed pipe ends nothing.
        """
        from pdpaudit.cli.output import console

        quiet = self.quiet or str(self.json_file) == "-"
        return console(quiet=quiet, goes_on=files or self.saved)

    def keep(self, result: Result) -> None:
        """Write the result to its file, before anything is printed that could fail."""
        from pdpaudit.cli.output import write_json

        if self.saved:
            write_json(self.json_file, result)

    def write(self, screen: Console, result: Result) -> None:
        """Say where the result was kept, or write it to standard output where asked for."""
        from pdpaudit.cli.output import write_json

        if self.saved:
            screen.print(f"result written to {self.json_file}", markup=False, soft_wrap=True)
        else:
            write_json(self.json_file, result)


def planted(p: float, q: float, rounds: int, first: str) -> dict[str, object]:
    """Return how targeted people are planted by infection, for a report."""
    return {"process": "infect", "p": p, "q": q, "rounds": rounds, "first": first}


@dataclass(frozen=True)
class NetworkOptions:
    """How to read the user's network; made again from a witness by ``replay``."""

    edges: Path | None = option(
        None,
        "Network file: edge list (CSV, TSV, spaces; gzip too), GML, GraphML, GEXF, Matrix Market "
        "or Pajek.",
    )
    nodes: Path | None = option(
        None, "Table of people and their labels: who is targeted, who is protected."
    )
    id_column: str | None = option(None, "Column of --nodes that names the person.")
    label_column: str = option("label", "Column or attribute that holds the label.")
    targeted_value: str = option("target", "Label of the targeted people.")
    source_column: str | None = option(None, "Column of --edges with one end.")
    target_column: str | None = option(None, "Column of --edges with the other end.")
    weight_column: str | None = option(None, "Column of --edges with the weight.")
    min_weight: float | None = option(None, "Drop ties of less weight.")
    time_column: str | None = option(None, "Column of --edges with the time.")
    since: str | None = option(None, "Drop contacts before this time.", "--from")
    until: str | None = option(None, "Drop contacts after this time.")
    count_contacts: bool = option(False, "A tie weighs as much as it has rows (for --min-weight).")
    keep_missing: bool = option(False, "NA, null, - and the like are names.")
    unlisted: str = option(
        "refuse", "People without a label, or in no row of --nodes: refuse, or protected."
    )
    seeds: str | None = option(
        None,
        "Public targeted people to start from, separated by ';'. Default: the first of the largest "
        "targeted component.",
    )
    infect: str | None = option(
        None,
        "Plant the targeted people by infection: probability of passing on, of becoming immune, "
        "and rounds, for example 0.3,0.3,4.",
        metavar="P,Q,ROUNDS",
    )
    infect_from: str | None = option(
        None, "Who is infected first. Default: whoever has most contacts."
    )
    names: bool = option(
        False, "Call people by their names in --edges; default: person 0, person 1 and so on."
    )

    def asked_for(self) -> NetworkOptions | None:
        """Return these options; None where no network is to be read."""
        if self.edges is not None:
            if self.infect is not None and self.label_column != "label":
                raise InputError("--infect plants the targeted people; leave --label-column out")
            return self
        if self.nodes is not None or self.infect is not None:
            raise InputError("--nodes and --infect label the people of --edges; give that too")
        if self.names:
            raise InputError("--names is about the people of --edges; give that too")
        return None

    def population(self) -> dict[str, object] | None:
        """Return how the targeted people are planted, for a report; None where they are read."""
        if self.infect is None:
            return None
        p, q, rounds = self._infection()
        first = self.infect_from or "whoever has most contacts"
        return planted(p, q, rounds, first)

    def read(self, seed: int) -> tuple[Network, list[str], NetworkOptions]:
        """Return the network, what is to be said about it, and how a result says it was read.

        Names end here unless they are asked for: the network has pseudonyms, and so have the
        options, with which it is read again as it was.
        """
        from pdpaudit.io import read_network
        from pdpaudit.report.findings import NAMES_PEOPLE

        assert self.edges is not None
        seeds = None
        if self.seeds is not None:
            seeds = [name.strip() for name in self.seeds.split(";") if name.strip()]
        ours = ("edges", "seeds", "infect", "infect_from")
        given = {key: value for key, value in vars(self).items() if key not in ours}
        reading = read_network(self.edges, seeds=seeds, plant=self._planter(seed), **given)
        banner = [NAMES_PEOPLE] if self.names else []
        said = [*banner, *reading.summary.splitlines(), *map(flagged, reading.notes)]
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

    def _planter(
        self, seed: int
    ) -> Callable[[csr_array, Sequence[str]], npt.NDArray[np.bool_]] | None:
        """Return what labels the targeted people, if they are to be planted."""
        if self.infect is None:
            if self.infect_from is not None:
                raise InputError("--infect-from needs --infect P,Q,ROUNDS")
            return None
        p, q, rounds = self._infection()

        def plant(adjacency: csr_array, names: Sequence[str]) -> npt.NDArray[np.bool_]:
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
            mask: npt.NDArray[np.bool_]
            mask = infect(adjacency, source, p, q, rounds, stream(seed, "infect"))
            return mask

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

    def to_json(self) -> dict[str, object]:
        """Return how to read the network again."""
        return {
            key: str(value) if isinstance(value, Path) else value
            for key, value in vars(self).items()
            if value is not None and value is not False and (key, value) != ("unlisted", "refuse")
        }
