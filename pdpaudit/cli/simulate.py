"""``pdpaudit simulate MECHANISM``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from pdpaudit.core.network import Network
    from pdpaudit.experiments.simulation import Contestant
    from pdpaudit.outputs import JSON
    from pdpaudit.results.results import Result

EXAMPLES = o.examples(
    "pdpaudit simulate --seed 1",
    "pdpaudit simulate --regime dominant --json result.json --csv curves.csv",
    "pdpaudit simulate --edges edges.csv --nodes nodes.csv --figures figures",
)

DEFAULT_REGIME = "several"


@dataclass(frozen=True)
class SimulationOptions:
    """The searches, and how long they run."""

    against: str = o.option(
        "Target",
        "The search to compare it with, drawn first.",
        autocompletion=o.names_of("mechanisms"),
    )
    epsilon: float = o.option(
        0.05, "Privacy parameter ε of each search round; 1/20 is the paper's."
    )
    sop: o.Sop = None
    runs: int = o.option(200, "Runs of each search.")
    budget: int | None = o.option(
        None,
        "Oracle calls after which a run is cut off, for the curves only; default: a fifth of the "
        "people, from 2,000 to 20,000.",
        metavar="CALLS",
    )
    regime: str | None = o.option(
        None,
        "Population of the embedded network: dominant, several or fragmented; default "
        f"{DEFAULT_REGIME}.",
        autocompletion=o.among(o.REGIMES),
    )
    components: int | None = o.option(
        None, "Targeted components to find at most; default: what the budget allows."
    )
    stop: o.Stop = None
    threshold: o.Threshold = None
    noise: o.Noise = None
    max_degree: o.MaxDegree = None

    def contestants(self, mechanism: str, budget: int) -> list[Contestant]:
        """Return both searches, made with what each of them takes."""
        common = {
            "sop": self.sop,
            "epsilon": self.epsilon,
            "components": self.components or max(budget, 0) + 1,
            "targets": max(budget, 0) + 1,
        }
        asked = {"stop": self.stop, "threshold": self.threshold, "noise": self.noise}
        return [_contestant(self.against, common, {}), _contestant(mechanism, common, asked)]


@o.grouped
def simulate_command(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM",
            autocompletion=o.names_of("mechanisms"),
            help="A registered search (see `pdpaudit list`), path/to/file.py:Name or module:Name.",
        ),
    ] = "PTarget:main-text",
    *,
    chosen: SimulationOptions,
    network: o.NetworkOptions,
    jobs: o.Jobs = -1,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write the mean curves as CSV.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write figures there, as SVG and PNG.")
    ] = None,
    output: o.OutputOptions,
) -> int:
    """Run a private search against a search without privacy: what is found, and what it costs.

    Targets found against oracle calls over many runs, and the risk multiplier e^ε of the
    components found so far, as claimed and in truth. Without --edges on an embedded network.

    A budget cuts curves off, no more: to let out a list that was cut off like that tells more
    than any claim about the list covers.
    """
    reading = network.asked_for()
    import time

    from pdpaudit.cli.output import check_writable, progress
    from pdpaudit.experiments.simulation import default_budget, simulate
    from pdpaudit.report.terminal import show_simulation
    from pdpaudit.results.results import Result
    from pdpaudit.sampling import backend, draw_seed

    check_writable(output.json_file)
    check_writable(csv_file)
    _check_figures(figures)
    began = time.monotonic()
    seed = draw_seed(output.seed)
    screen = output.screen(files=bool(csv_file or figures))
    screen.print(f"pdpaudit simulate {mechanism}, seed {seed}", markup=False)
    on, about, reading = _network(reading, chosen.regime, seed, screen)
    on = replace(on, max_degree=chosen.max_degree)
    budget = default_budget(on) if chosen.budget is None else chosen.budget
    contestants = chosen.contestants(mechanism, budget)
    with progress(quiet=output.quiet) as watcher, backend():
        simulation = simulate(
            on, contestants, budget=budget, runs=chosen.runs, seed=seed, jobs=jobs, watcher=watcher
        )
    described = {**simulation["network"], **about.get("network", {})}
    simulation = {**simulation, **about, "network": described}
    options = {**vars(chosen), "budget": budget, **(reading.to_json() if reading else {})}
    context = {
        "simulation": simulation,
        # What a report needs to write the command again.
        "options": {key: value for key, value in options.items() if value is not None},
        **({"names": True} if network.names else {}),
    }
    elapsed = time.monotonic() - began
    subject = f"{mechanism} against {chosen.against}"
    result = Result("simulate", subject, seed, elapsed, context=context)
    output.keep(result)
    show_simulation(screen, simulation)
    output.write(screen, result)
    for path in _write_curves(result, csv_file, figures):
        screen.print(f"written: {path}", markup=False, soft_wrap=True)
    return 0


def _write_curves(result: Result, csv_file: Path | None, figures: Path | None) -> list[Path]:
    """Write the curves as numbers and as figures; return the files."""
    from pdpaudit.experiments.simulation import curves_csv
    from pdpaudit.results.files import write_text

    written = []
    if csv_file is not None:
        write_text(csv_file, curves_csv(result.context["simulation"]))
        written.append(csv_file)
    if figures is not None:
        from pdpaudit.report.figures import write_figures

        figures.mkdir(exist_ok=True)
        written += write_figures(result.to_json()["context"]["simulation"], figures)
    return written


def _network(
    reading: o.NetworkOptions | None, regime: str | None, seed: int, screen: Console
) -> tuple[Network, JSON, o.NetworkOptions | None]:
    """Return the network, what a report needs, and how it was read; say what there is."""
    from pdpaudit.core.network import targeted_components
    from pdpaudit.experiments.generated_networks import embedded_network, regime_of

    if reading is None:
        network, infection = embedded_network(DEFAULT_REGIME if regime is None else regime)
        said = [f"embedded network: {network.n:,} people, {network.edges:,} ties"]
        first = network.name(infection.first)
        population = o.planted(infection.p, infection.q, infection.rounds, first)
        about: JSON = {"population": population}
    else:
        if regime is not None:
            raise InputError(
                "--regime chooses the population of the embedded network; on your own plant one "
                "with --infect, or leave it out"
            )
        network, said, reading = reading.read(seed)
        about = {"network": {"min_weight": reading.min_weight}, "population": reading.population()}
    for line in said:
        screen.print(line, markup=False)
    sizes = [len(part) for part in targeted_components(network.adjacency, network.targeted)]
    return network, {**about, "regime": regime_of(sizes)}, reading


def _contestant(name: str, common: Mapping[str, object], asked: Mapping[str, object]) -> Contestant:
    """Return a search made with those common options that it takes, and with all it was asked."""
    import inspect

    from pdpaudit.core.registry import make_mechanism, resolve
    from pdpaudit.core.variants import refuse_without_claim
    from pdpaudit.experiments.simulation import Contestant

    factory = resolve("mechanisms", name)
    takes = set(inspect.signature(factory).parameters) if inspect.isclass(factory) else set()
    fitting = {key: value for key, value in common.items() if key in takes}
    made, _ = make_mechanism(name, {**fitting, **asked})
    refuse_without_claim(made, name)
    return Contestant(name, made, name)


def _check_figures(folder: Path | None) -> None:
    """Refuse to draw before the work, not after it."""
    from importlib.util import find_spec

    from pdpaudit.cli.output import check_writable

    if folder is None:
        return
    if find_spec("matplotlib") is None:
        raise InputError(
            "--figures: matplotlib is not installed; install it with pip install "
            "'pdpaudit[report]', or leave --figures out"
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give the name of a folder for the figures")
    check_writable(folder / "curves.svg" if folder.is_dir() else folder)
