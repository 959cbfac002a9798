"""``pdpaudit audit MECHANISM``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pdpaudit.cli import options as o
from pdpaudit.cli.completing import METHODS, NOISES, OBSERVABLES, among, names_of

__all__ = ["EXAMPLES", "audit_command"]

EXAMPLES = o.examples(
    "pdpaudit audit PTarget:main-text --seed 1",
    "pdpaudit audit my_search.py:Search --samples 2000 --json result.json",
    "pdpaudit audit PTarget --edges edges.csv --nodes nodes.csv --exposure",
)

MECHANISM = "Mechanism"


def audit_command(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM",
            autocompletion=names_of("mechanisms"),
            help="A registered name (see `pdpaudit list`), path/to/file.py:Name, module:Name, or "
            "a name in ./mechanisms.py.",
        ),
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(help="Privacy parameter ε of each search; default: the mechanism's own, 1."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="δ of the claim made by advanced composition.")
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(help="Targeted components to find; default 2, that is one search."),
    ] = None,
    stop: Annotated[
        int | None, typer.Option(help="Stopping threshold K; default half of the vertices.")
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
    sop: Annotated[
        str | None,
        typer.Option(autocompletion=names_of("sops"), help="Statistic of proximity; default CN."),
    ] = None,
    max_degree: Annotated[
        int | None,
        typer.Option(
            help="Public bound on every degree, a promise that all networks keep; default: one "
            "less than the vertices."
        ),
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
    samples: Annotated[
        int | None,
        typer.Option(
            help="Fresh samples a side for each claim, even where an exact law would do without; "
            "default 100000 where there is none, 10000 with --observe."
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(
            help="Probability that no true claim is called violated, over the whole command."
        ),
    ] = 0.95,
    method: Annotated[
        str,
        typer.Option(
            autocompletion=among(METHODS),
            help="How ε is bounded from two counts: exact, clopper-pearson or betting; "
            "sequential: see --sequential.",
        ),
    ] = "exact",
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Look while sampling and stop once a violation is certain; --samples is the most.",
        ),
    ] = False,
    detect: Annotated[
        float | None,
        typer.Option(
            help="With --sequential: stop, too, once a loss of this size would have been found in "
            "19 of 20 planted leaks."
        ),
    ] = None,
    tries: Annotated[
        int | None, typer.Option("--try", help="Pairs to try at most, before local moves.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds after which the search for a pair ends with what it has."),
    ] = None,
    observe: Annotated[
        str | None,
        typer.Option(
            autocompletion=among((*OBSERVABLES, "all")),
            help="Audit a by-product of a search and not its list: queries, examined, truncated "
            "or time; all: these and the list, with a table of what each costs.",
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Enclose what is violated by ball arithmetic, and write a certificate."
        ),
    ] = False,
    exposure: Annotated[
        bool,
        typer.Option(
            "--exposure", help="Also what each protected person of --edges loses in a round."
        ),
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="STATUS",
            autocompletion=among(("inconclusive",)),
            help="Exit status 1 for this too: inconclusive, where little could have been found.",
        ),
    ] = None,
    jobs: o.Jobs = -1,
    backend: o.Backend = "loky",
    scheduler: o.Scheduler = None,
    store: o.Store = None,
    seed: o.Seed = None,
    json_file: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Try to break a mechanism's privacy claim.

    Without --edges it looks for neighbouring networks on planted instances and embedded real
    networks; with a network it rewires that network's protected people.
    """
    reading = o.NetworkOptions.asked_for(locals())
    from dataclasses import replace

    from pdpaudit.auditing import Config, audit, benchmark_networks, within_degree_bound
    from pdpaudit.auditing.config import SEQUENTIAL
    from pdpaudit.auditing.released import audit_released
    from pdpaudit.auditing.side_channels import ALL, SAMPLES, observed
    from pdpaudit.cli.lasting import keeping, workers
    from pdpaudit.cli.output import check_writable, console, progress, write_json
    from pdpaudit.core.errors import InputError
    from pdpaudit.core.making import make_mechanism
    from pdpaudit.report.terminal import show_audit, show_exposure
    from pdpaudit.results.results import exit_status
    from pdpaudit.sampling import draw_seed

    check_writable(json_file)
    if fail_on not in (None, "inconclusive"):
        raise InputError(f"--fail-on {fail_on}: give inconclusive, or leave it out")
    if sequential and method not in ("exact", SEQUENTIAL):
        raise InputError(f"--sequential has a method of its own; leave out --method {method}")
    method = SEQUENTIAL if sequential else method
    plan = Config(
        draw_seed(seed), samples, confidence, method, jobs, tries, time_limit, detect=detect
    )
    made, spec = make_mechanism(
        mechanism,
        {
            "epsilon": epsilon,
            "delta": delta,
            "components": components,
            "stop": stop,
            "threshold": threshold,
            "noise": noise,
            "sop": sop,
        },
    )
    if observe == ALL and (store is not None or prove):
        raise InputError("--observe all goes without --store and --prove; name one observable")
    if observe not in (None, ALL):
        made, spec = observed(made, observe), {**spec, "observe": observe}
        plan = replace(plan, default_samples=SAMPLES)
    screen = console(quiet=quiet or str(json_file) == "-")
    screen.print(f"pdpaudit audit {mechanism}, seed {plan.seed}", markup=False)
    file = None
    if reading is not None:
        network, said, reading = reading.read(plan.seed)
        for line in said:
            screen.print(line, markup=False)
        networks, file = [replace(network, max_degree=max_degree)], reading.to_json()
        if max_degree is None:
            screen.print(
                "no --max-degree: noise that grows with the degree is scaled for "
                f"{network.n - 1:,}, the most that {network.n:,} vertices allow",
                markup=False,
            )
    else:
        networks = (
            [] if hasattr(made, "pairs") else within_degree_bound(benchmark_networks(), max_degree)
        )
    if exposure and edges is None:
        raise InputError("--exposure is about the people of a network; give it with --edges")
    kept_file = None if file is None else {**file, "names": None}  # draws do not depend on names
    settings = {"max_degree": max_degree, "file": kept_file}
    with (
        keeping(store, made, spec, plan.seed, **settings) as kept,
        workers(backend, scheduler, jobs) as where,
        progress(quiet=quiet) as watcher,
    ):
        if where:
            screen.print(where, markup=False)
        plan = replace(plan, store=kept)
        exposed: dict[str, Any] = {"names": True} if names else {}
        if exposure:
            # First, so that a refusal costs no audit.
            from pdpaudit.auditing.exposure import measure_exposure

            told = measure_exposure(made, networks[0], watcher=watcher).to_json(networks[0])
            exposed["exposure"] = told
        asked: dict[str, Any] = {"subject": mechanism, "spec": spec, "file": file}
        if prove:
            from pdpaudit.auditing.proof import prove_claim

            asked["prover"] = prove_claim
        how = audit_released if observe == ALL else audit
        result = how(made, networks, plan, **asked, watcher=watcher)
        result = replace(result, context={**result.context, **exposed})
    show_audit(screen, result)
    if exposure:
        show_exposure(screen, result.context["exposure"])
    write_json(json_file, result)
    if json_file is not None and str(json_file) != "-":
        screen.print(f"result written to {Path(json_file)}", markup=False, soft_wrap=True)
    return exit_status(result.status, fail_on)
