"""``pdpaudit check SOP``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from pdpaudit.checks import Options
    from pdpaudit.core.network import Network

EXAMPLES = o.examples(
    "pdpaudit check CN --seed 1",
    "pdpaudit check my_sop.py:closeness --max-vertices 4 --json result.json",
    "pdpaudit check CN --select own-network --edges edges.csv --nodes nodes.csv",
)


@dataclass(frozen=True)
class CheckOptions:
    """What is searched, and which checks run."""

    relation: str | None = o.option(
        None,
        "Check the sensitivity of any function instead, between neighbours under this relation: of "
        "graphs edge, vertex, rewired, or secret ties that its domain names; of records add-remove "
        "or replace.",
        autocompletion=o.among(o.RELATIONS),
    )
    sensitivity: float | None = o.option(
        None, "With --relation, the sensitivity to check; default: the function's own."
    )
    max_vertices: int | None = o.option(
        None,
        "Search all networks with up to N vertices, N at most 8; default 6, with --relation 7.",
    )
    labelled_vertices: int = o.option(
        5,
        "Enumerate every labelled network with up to N vertices, N at most 6: only this certifies. "
        "Larger networks are searched up to relabelling.",
    )
    max_degree: o.MaxDegree = None
    select: list[str] | None = o.option(
        None,
        "Run this check only; may be repeated.",
        metavar="CHECK",
        autocompletion=o.among(o.CHECKS),
    )
    skip: list[str] | None = o.option(
        None,
        "Leave this check out; may be repeated.",
        metavar="CHECK",
        autocompletion=o.among(o.CHECKS),
    )
    expect_failure: list[str] | None = o.option(
        None, "A check known to fail, and why; may be repeated.", metavar="CHECK=REASON"
    )
    examples: int = o.option(3000, "Pairs the guided search looks at beyond the small networks.")
    time_limit: float = o.option(120.0, "Seconds for all of it; what was completed is reported.")

    def suite(self, seed: int, jobs: int, network: Network | None) -> Options:
        """Return the options of the suite."""
        import joblib

        from pdpaudit.checks import Options

        return Options(
            max_vertices=6 if self.max_vertices is None else self.max_vertices,
            labelled_vertices=self.labelled_vertices,
            time_limit=self.time_limit,
            jobs=joblib.cpu_count() if jobs == -1 else jobs,
            seed=seed,
            examples=self.examples,
            network=network,
            max_degree=self.max_degree,
            select=tuple(self.select) if self.select else None,
            skip=tuple(self.skip or ()),
            expected_failures=_expected(self.expect_failure or []),
        )


@o.grouped
def check_command(
    sop: Annotated[
        str,
        typer.Argument(
            metavar="SOP",
            autocompletion=o.names_of("sops"),
            help="A registered name (see `pdpaudit list`), path/to/file.py:Name, module:Name, or "
            "a name in ./sops.py.",
        ),
    ],
    *,
    chosen: CheckOptions,
    network: o.NetworkOptions,
    jobs: o.Jobs = -1,
    output: o.OutputOptions,
) -> int:
    """Check what a statistic declares, and that it behaves.

    The statistic of proximity is tried on all small networks, by guided search beyond,
    and on your own network where you give --edges.
    """
    reading = network.asked_for()
    import time

    from pdpaudit.auditing.provenance import origin_of
    from pdpaudit.checks import check_sop
    from pdpaudit.cli.output import check_writable
    from pdpaudit.core.registry import resolve
    from pdpaudit.report.sources import replay_command
    from pdpaudit.report.terminal import show_check, show_checks_end
    from pdpaudit.results.results import Result, exit_status
    from pdpaudit.sampling import backend, draw_seed

    check_writable(output.json_file)
    start = time.monotonic()
    drawn = draw_seed(output.seed)
    if chosen.relation is not None or chosen.sensitivity is not None:
        return _check_sensitivity(sop, chosen, drawn, output)
    statistic = resolve("sops", sop)
    screen = output.screen()
    screen.print(f"pdpaudit check {sop}, seed {drawn}", markup=False)
    read = None
    if reading is not None:
        read, said, _ = reading.read(drawn)
        for line in said:
            screen.print(line, markup=False)
    options = chosen.suite(drawn, jobs, read)
    with backend():
        checks = check_sop(statistic, options, after=lambda result: show_check(screen, result))
    result = Result(
        "check",
        sop,
        drawn,
        time.monotonic() - start,
        checks=tuple(check.of(sop) for check in checks),
        context={"names": True} if network.names else {},
        **origin_of(statistic),
    )
    output.keep(result)
    again = replay_command(result, str(output.json_file)) if output.saved else ""
    show_checks_end(screen, result, sop, again)
    output.write(screen, result)
    return exit_status(result.status)


def _check_sensitivity(name: str, chosen: CheckOptions, seed: int, output: o.OutputOptions) -> int:
    """Check the sensitivity of a function under a relation."""
    from pdpaudit.checks.sensitivity import Question
    from pdpaudit.core.registry import resolve
    from pdpaudit.face import checked_sensitivity
    from pdpaudit.report.sources import replay_command
    from pdpaudit.report.terminal import show_check
    from pdpaudit.results.results import exit_status

    relation = chosen.relation
    if relation is None:
        raise InputError("--sensitivity: say between which neighbours, with --relation")
    screen = output.screen()
    screen.print(f"pdpaudit check {name} --relation {relation}, seed {seed}", markup=False)
    function = resolve("functions", name)
    question = Question.of(function, relation, sensitivity=chosen.sensitivity)
    result = checked_sensitivity(
        question,
        name,
        chosen.sensitivity,
        seed=seed,
        most=chosen.max_vertices,
        examples=chosen.examples,
        time_limit=chosen.time_limit,
    )
    output.keep(result)
    for check in result.checks:
        show_check(screen, check)
        screen.print(f"pairs under {check.scope}", markup=False)
    output.write(screen, result)
    if output.saved and result.violated:
        again = replay_command(result, str(output.json_file))
        screen.print(f"to replay: {again}", markup=False, soft_wrap=True)
    return exit_status(result.status)


def _expected(pairs: list[str]) -> dict[str, str]:
    """Read CHECK=REASON."""
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
