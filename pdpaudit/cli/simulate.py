"""``pdpaudit simulate MECHANISM``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pdpaudit.cli import options as o
from pdpaudit.cli.completing import NOISES, REGIMES, among, names_of

if TYPE_CHECKING:
    from pdpaudit.core.network import Network

__all__ = ["EXAMPLES", "simulate_command"]

EXAMPLES = o.examples(
    "pdpaudit simulate --seed 1",
    "pdpaudit simulate --regime dominant --json result.json --csv curves.csv",
    "pdpaudit simulate --edges edges.csv --nodes nodes.csv --figures figures",
)

DEFAULT_REGIME = "several"


def simulate_command(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM",
            autocompletion=names_of("mechanisms"),
            help="A registered search (see `pdpaudit list`), path/to/file.py:Name or module:Name.",
        ),
    ] = "PTarget:main-text",
    against: Annotated[
        str,
        typer.Option(
            autocompletion=names_of("mechanisms"),
            help="The search to compare it with, drawn first.",
        ),
    ] = "Target",
    epsilon: Annotated[
        float, typer.Option(help="Privacy parameter ε of each search round; 1/20 is the paper's.")
    ] = 0.05,
    sop: Annotated[
        str | None,
        typer.Option(
            autocompletion=names_of("sops"), help="Statistic of proximity of both; default CN."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs of each search.")] = 200,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="CALLS",
            help="Oracle calls after which a run is cut off, for the curves only; default: a "
            "fifth of the people, from 2,000 to 20,000.",
        ),
    ] = None,
    regime: Annotated[
        str | None,
        typer.Option(
            autocompletion=among(REGIMES),
            help="Population of the embedded network: dominant, several or fragmented; default "
            f"{DEFAULT_REGIME}.",
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(help="Targeted components to find at most; default: what the budget allows."),
    ] = None,
    stop: Annotated[
        int | None, typer.Option(help="Stopping threshold of a round; default half of the people.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Stopping score τ of the repaired search.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            autocompletion=among(NOISES),
            help="Noise of the repaired search: laplace, gumbel or exponential; default laplace.",
        ),
    ] = None,
    max_degree: Annotated[
        int | None,
        typer.Option(help="Public bound on every degree; default: one less than the people."),
    ] = None,
    edges: o.Edges = None,
    nodes: o.Nodes = None,
    id_column: o.IdColumn = None,
    label_column: o.LabelColumn = "label",
    targeted_value: o.TargetedValue = "target",
    source_column: o.SourceColumn = None,
    target_column: o.TargetColumn = None,
    weight_column: o.WeightColumn = None,
    min_weight: o.MinWeight = None,
    time_column: o.TimeColumn = None,
    since: o.Since = None,
    until: o.Until = None,
    count_contacts: o.CountContacts = False,
    keep_missing: o.KeepMissing = False,
    unlisted: o.Unlisted = "refuse",
    seeds: o.Seeds = None,
    infect: o.Infect = None,
    infect_from: o.InfectFrom = None,
    names: o.Names = False,
    jobs: o.Jobs = -1,
    seed: o.Seed = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write the mean curves as CSV.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write figures there, as SVG and PNG."),
    ] = None,
    json_file: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Run a private search against a search without privacy: what is found, and what it costs.

    Targets found against oracle calls over many runs, and the risk multiplier e^ε of the
    components found so far, as claimed and in truth. Without --edges on an embedded network.

    A budget cuts curves off, no more: to let out a list that was cut off like that tells more
    than any claim about the list covers.
    """
    network_options = o.NetworkOptions.asked_for(locals())
    import time
    from dataclasses import replace

    from pdpaudit.cli.output import check_writable, console, progress, write_json
    from pdpaudit.experiments.curves import curves_csv
    from pdpaudit.experiments.simulation import default_budget, simulate
    from pdpaudit.report.simulation_terminal import show_simulation
    from pdpaudit.results.results import Result, write_text
    from pdpaudit.sampling import backend, draw_seed

    check_writable(json_file)
    check_writable(csv_file)
    _check_figures(figures)
    began = time.monotonic()
    drawn = draw_seed(seed)
    screen = console(quiet=quiet or str(json_file) == "-")
    screen.print(f"pdpaudit simulate {mechanism}, seed {drawn}", markup=False)
    network, said, about, network_options = _network(network_options, regime, drawn)
    for line in said:
        screen.print(line, markup=False)
    network = replace(network, max_degree=max_degree)
    calls = default_budget(network) if budget is None else budget
    asked = {"stop": stop, "threshold": threshold, "noise": noise}
    options = {
        "against": against,
        "epsilon": epsilon,
        "sop": sop,
        "runs": runs,
        "budget": calls,
        "regime": regime,
        "components": components,
        **asked,
        "max_degree": max_degree,
        **(network_options.to_json() if network_options else {}),
    }
    common = {"sop": sop, "epsilon": epsilon, "components": components or max(calls, 0) + 1}
    contestants = [
        _contestant(against, common, {}),
        _contestant(mechanism, common, asked),
    ]
    with progress(quiet=quiet) as watcher, backend():
        simulation = simulate(
            network,
            contestants,
            budget=calls,
            runs=runs,
            seed=drawn,
            jobs=jobs,
            watcher=watcher,
            about=about,
        )
    result = Result(
        "simulate",
        f"{mechanism} against {against}",
        drawn,
        time.monotonic() - began,
        context={
            "simulation": simulation,
            "options": _without_blanks(options),
            **({"names": True} if names else {}),
        },
    )
    show_simulation(screen, simulation)
    write_json(json_file, result)
    written = [] if json_file is None or str(json_file) == "-" else [json_file]
    if csv_file is not None:
        write_text(csv_file, curves_csv(simulation))
        written.append(csv_file)
    if figures is not None:
        from pdpaudit.report.experiments import write_figures

        figures.mkdir(exist_ok=True)
        written += write_figures(result.to_json()["context"]["simulation"], figures)
    for path in written:
        screen.print(f"written: {path}", markup=False, soft_wrap=True)
    return 0


def _without_blanks(options: dict[str, Any]) -> dict[str, Any]:
    """Return what a report needs to write the command again."""
    return {key: value for key, value in options.items() if value is not None}


def _network(
    reading: o.NetworkOptions | None, regime: str | None, seed: int
) -> tuple[Network, list[str], dict[str, Any], o.NetworkOptions | None]:
    """Return the network, what is said about it, what a report needs, and how it was read."""
    from pdpaudit.core.errors import InputError
    from pdpaudit.core.network import targeted_components
    from pdpaudit.experiments.embedded_network import embedded_network, regime_of

    if reading is None:
        network, infection = embedded_network(DEFAULT_REGIME if regime is None else regime)
        said = [f"embedded network: {network.n:,} people, {network.edges:,} ties"]
        about: dict[str, Any] = {
            "population": {
                "process": "infect",
                "p": infection.p,
                "q": infection.q,
                "rounds": infection.rounds,
                "first": network.name(infection.first),
            }
        }
    else:
        if regime is not None:
            raise InputError(
                "--regime chooses the population of the embedded network; on your own plant one "
                "with --infect, or leave it out"
            )
        network, said, reading = reading.read(seed)
        about = {
            "network": {"min_weight": reading.min_weight},
            "population": reading.population(),
        }
    sizes = [len(part) for part in targeted_components(network.adjacency, network.targeted)]
    return network, said, {**about, "regime": regime_of(sizes)}, reading


def _contestant(name: str, common: dict[str, Any], asked: dict[str, Any]) -> Any:
    """Return a search made with those common options that it takes, and with all it was asked."""
    import inspect

    from pdpaudit.core.making import make_mechanism
    from pdpaudit.core.registry import resolve
    from pdpaudit.experiments.simulation import Contestant

    factory = resolve("mechanisms", name)
    takes = set(inspect.signature(factory).parameters) if inspect.isclass(factory) else set()
    fitting = {key: value for key, value in common.items() if key in takes}
    made, _ = make_mechanism(name, {**fitting, **asked})
    return Contestant(name, made, name)


def _check_figures(folder: Path | None) -> None:
    """Refuse to draw before the work, not after it."""
    from importlib.util import find_spec

    from pdpaudit.core.errors import InputError

    if folder is None:
        return
    if find_spec("matplotlib") is None:
        raise InputError(
            "--figures: matplotlib is not installed; install it with pip install "
            "'pdpaudit[figures]', or leave --figures out"
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give the name of a folder for the figures")
    if not folder.parent.is_dir():
        raise InputError(f"{folder}: the folder {folder.parent} does not exist; make it first")
