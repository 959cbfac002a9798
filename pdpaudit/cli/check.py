"""``pdpaudit check SOP``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pdpaudit.cli import options as o
from pdpaudit.cli.completing import CHECKS, among, names_of

if TYPE_CHECKING:
    from pdpaudit.checks import Options
    from pdpaudit.results.results import CheckResult

__all__ = ["EXAMPLES", "check_command"]

EXAMPLES = o.examples(
    "pdpaudit check CN --seed 1",
    "pdpaudit check my_sop.py:closeness --max-vertices 4 --json result.json",
    "pdpaudit check CN --select own-network --edges edges.csv --nodes nodes.csv",
)


def check_command(
    sop: Annotated[
        str,
        typer.Argument(
            metavar="SOP",
            autocompletion=names_of("sops"),
            help="A registered name (see `pdpaudit list`), path/to/file.py:Name, module:Name, or "
            "a name in ./sops.py.",
        ),
    ],
    max_vertices: Annotated[
        int,
        typer.Option(help="Search all networks with up to so many vertices, at most 8."),
    ] = 6,
    labelled_vertices: Annotated[
        int,
        typer.Option(
            help="Enumerate every labelled network, which is what is certified, with up to so "
            "many vertices, at most 6; the larger ones up to relabelling."
        ),
    ] = 5,
    max_degree: Annotated[
        int | None,
        typer.Option(help="Public degree bound of the network; default: its vertices less one."),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK",
            autocompletion=among(CHECKS),
            help="Run this check only; may be repeated.",
        ),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK",
            autocompletion=among(CHECKS),
            help="Leave this check out; may be repeated.",
        ),
    ] = None,
    expect_failure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK=REASON", help="A check known to fail, and why; may be repeated."
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(help="Pairs the guided search looks at beyond the small networks.")
    ] = 3000,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for all of it; what was completed is reported.")
    ] = 120.0,
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
    json_file: o.Json = None,
    quiet: o.Quiet = False,
) -> int:
    """Check what a statistic declares, and that it behaves.

    The statistic of proximity is tried on all small networks, by random and guided search beyond,
    and on your own network where you give --edges.
    """
    reading = o.NetworkOptions.asked_for(locals())
    import time
    from dataclasses import replace

    import joblib

    from pdpaudit.auditing.provenance import commit_of, source_digest
    from pdpaudit.checks import check_sop
    from pdpaudit.cli.output import check_writable, console, write_json
    from pdpaudit.core.registry import resolve
    from pdpaudit.report.check_terminal import show_check, show_checks_end
    from pdpaudit.report.reproduce import replay_command
    from pdpaudit.results.results import Result, exit_status
    from pdpaudit.sampling import backend, draw_seed

    check_writable(json_file)
    start = time.monotonic()
    drawn = draw_seed(seed)
    statistic = resolve("sops", sop)
    screen = console(quiet=quiet or str(json_file) == "-")
    screen.print(f"pdpaudit check {sop}, seed {drawn}", markup=False)
    network = None
    if reading is not None:
        network, said, _ = reading.read(drawn)
        for line in said:
            screen.print(line, markup=False)
    options = _options(
        max_vertices=max_vertices,
        labelled_vertices=labelled_vertices,
        time_limit=time_limit,
        jobs=joblib.cpu_count() if jobs == -1 else jobs,
        seed=drawn,
        examples=examples,
        network=network,
        max_degree=max_degree,
        select=tuple(select) if select else None,
        skip=tuple(skip or ()),
        expected_failures=_expected(expect_failure or []),
    )

    def after(result: CheckResult) -> None:
        show_check(screen, result)

    with backend():
        checks = check_sop(statistic, options, after=after)
    checks = tuple(
        replace(check, witness={**check.witness, "specification": sop}) if check.witness else check
        for check in checks
    )
    elapsed = time.monotonic() - start
    result = Result(
        "check",
        sop,
        drawn,
        elapsed,
        checks=checks,
        context={"names": True} if names else {},
        source=source_digest(statistic),
        commit=commit_of(statistic),
    )
    saved = json_file is not None and str(json_file) != "-"
    again = replay_command(result, str(json_file)) if saved else ""
    show_checks_end(screen, result, sop, again)
    write_json(json_file, result)
    if saved:
        screen.print(f"result written to {json_file}", markup=False, soft_wrap=True)
    return exit_status(result.status)


def _options(**given: Any) -> Options:
    """Return the options of the suite; what it refuses is named as on the command line."""
    import re

    from pdpaudit.checks import Options
    from pdpaudit.core.errors import InputError

    try:
        return Options(**given)
    except InputError as error:
        option = re.sub(
            r"^(\w+) = ", lambda name: f"--{name[1].replace('_', '-')} ", str(error), count=1
        )
        raise InputError(option) from None


def _expected(pairs: list[str]) -> dict[str, str]:
    """Read CHECK=REASON."""
    from pdpaudit.core.errors import InputError

    expected: dict[str, str] = {}
    for pair in pairs:
        name, equals, reason = pair.partition("=")
        if not equals or not reason.strip():
            raise InputError(
                f"--expect-failure {pair!r}: give CHECK=REASON, for example "
                "tightness='kept simple on purpose'"
            )
        expected[name.strip()] = reason.strip()
    return expected
