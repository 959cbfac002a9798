"""``pdpaudit audit MECHANISM``."""

from __future__ import annotations

import ast
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdpaudit.cli import options as o
from pdpaudit.core.errors import InputError, ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from pdpaudit.auditing import Config
    from pdpaudit.core.network import Network
    from pdpaudit.core.specification import Specification
    from pdpaudit.results.results import Result
    from pdpaudit.sampling import Store

#: Exit status of what was interrupted.
INTERRUPTED = 130

EXAMPLES = o.examples(
    "pdpaudit audit PTarget:main-text --seed 1",
    "pdpaudit audit my_search.py:Search --samples 2000 --json result.json",
    "pdpaudit audit PTarget --edges edges.csv --nodes nodes.csv --exposure",
)


@dataclass(frozen=True)
class MechanismOptions:
    """What the mechanism is made with."""

    epsilon: float | None = o.option(
        None, "Privacy parameter ε of each search; default: the mechanism's own, 1."
    )
    delta: float | None = o.option(None, "δ of the claim made by advanced composition.")
    components: int | None = o.option(
        None, "Targeted components to find; default 2, that is one search."
    )
    stop: o.Stop = None
    threshold: o.Threshold = None
    noise: o.Noise = None
    sop: o.Sop = None
    max_degree: o.MaxDegree = None

    others: list[str] | None = o.option(
        None,
        "Any other argument that the mechanism is made with, for example eps=0.5; can be given "
        "again.",
        "--with",
        metavar="NAME=VALUE",
    )

    python: str | None = o.option(
        None,
        "Make and run the mechanism with this Python (3.8 or newer), in which pdpaudit need not be "
        "installed.",
        metavar="PATH",
    )
    program: str | None = o.option(
        None,
        "Audit a program that reads JSON lines and answers with JSON lines; instead of MECHANISM.",
        "--exec",
        metavar="COMMAND",
    )

    def parameters(self, mechanism: str) -> dict[str, object]:
        """Return what the mechanism itself takes."""
        from pdpaudit.core.registry import check_arguments

        options = ("max_degree", "others", "python", "program")
        given = {name: value for name, value in vars(self).items() if name not in options}
        others = dict(map(_argument, self.others or ()))
        if self.python is None:
            check_arguments(mechanism, others)
        for name in others:
            if given.get(name) is not None:
                raise InputError(f"--with {name}: --{name} is given too; leave one out")
        return {**given, **others}


def _argument(given: str) -> tuple[str, object]:
    """Return name and value of an argument as a result can keep it: a Python literal, else text."""
    name, equals, text = given.partition("=")
    if not equals or not name.isidentifier():
        raise InputError(f"--with {given}: give NAME=VALUE, for example eps=0.5")
    try:
        # Shells and JSON write true where Python writes True; as a text it would mean true.
        literal = text.capitalize() if text in ("true", "false") else text
        value = json.loads(json.dumps(ast.literal_eval(literal), allow_nan=False))
    except (ValueError, SyntaxError):
        return name, text
    except (TypeError, MemoryError, RecursionError):
        value = None
    if value is None:
        raise InputError(
            f"--with {given}: give a number, a text, True, False, or a list or dictionary of these"
        )
    return name, value


@dataclass(frozen=True)
class SamplingOptions:
    """How many runs are drawn, and how a loss is bounded from them."""

    samples: int | None = o.option(
        None,
        "A fixed plan: fresh samples a side for each claim, even where an exact law would do "
        "without; default: stages that end once enough is known.",
    )
    quick: bool = o.option(
        False,
        "About a quarter of the default number of runs, until a loss of 2 times the claim plus 0.5 "
        "would have been found.",
    )
    thorough: bool = o.option(
        False,
        "Ten times the default number of runs or more, until a loss of 1.1 times the claim plus "
        "0.05 would have been found (default: 1.5 times, plus 0.2).",
    )
    confidence: float = o.option(
        0.95, "Probability that no true claim is called violated, over the whole command."
    )
    method: str | None = o.option(
        None,
        "How ε is bounded from two counts: exact, clopper-pearson or betting, on a fixed number of "
        "samples; sequential: see --sequential.",
        autocompletion=o.among(o.METHODS),
    )
    sequential: bool = o.option(
        False,
        "Look while sampling and stop once a violation is certain, even where there is an exact "
        "law; --samples is the most.",
    )
    detect: float | None = o.option(
        None,
        "Stop, too, once a loss of this size would have been found in 19 of 20 planted leaks; not "
        "with --samples alone.",
    )
    tries: int | None = o.option(None, "Pairs to try at most, before local moves.", "--try")
    time_limit: float | None = o.option(
        None,
        "Seconds, once the files are read, after which it ends with what it has; half for the "
        "search.",
    )

    def plan(self, output: o.OutputOptions, jobs: int) -> Config:
        """Return the settings of the audit."""
        from pdpaudit.auditing import Config
        from pdpaudit.auditing.config import SEQUENTIAL
        from pdpaudit.sampling import draw_seed

        if self.quick and self.thorough:
            raise InputError("--quick and --thorough: give one of them")
        if self.sequential and self.method not in (None, "exact", SEQUENTIAL):
            raise InputError(
                f"--sequential has a method of its own; leave out --method {self.method}"
            )
        return Config(
            draw_seed(output.seed),
            self.samples,
            self.confidence,
            SEQUENTIAL if self.sequential else self.method,
            jobs,
            self.tries,
            self.time_limit,
            detect=self.detect,
            budget="quick" if self.quick else "thorough" if self.thorough else "default",
        )


@dataclass(frozen=True)
class FindingOptions:
    """What is audited, and what is said of it besides its bound."""

    claim: str | None = o.option(
        None,
        "The claim to test, default the mechanism's own: eps=1, eps=1,delta=1e-6, zcdp:0.5, "
        "renyi:2:1.0 or gdp:0.45.",
        metavar="CLAIM",
    )
    relation: str | None = o.option(
        None,
        "Which inputs are neighbours, default the first that the mechanism's domain knows: for "
        "networks protected, protected-edge, edge or rewired; for graphs edge, vertex or rewired; "
        "for records add-remove or replace; for vectors one, every, L1 or L2; explicit: the "
        "mechanism's own pairs; all: each of them, in one table.",
        autocompletion=o.among(o.RELATIONS),
    )
    observe: str | None = o.option(
        None,
        "Audit a by-product of a search and not its list: queries, examined, truncated or time; "
        "all: these and the list, with a table of what each costs; representation: the outputs to "
        "the last bit, by which noise drawn in floating point leaks.",
        autocompletion=o.among(o.OBSERVABLES),
    )
    prove: bool = o.option(
        False, "Enclose what is violated by ball arithmetic, and write a certificate."
    )
    explain: bool = o.option(
        False,
        "Say which line of the code, and which random draw, first differs between the two inputs "
        "that break a claim.",
    )
    exposure: bool = o.option(False, "Also what each protected person of --edges loses in a round.")
    fail_on: str | None = o.option(
        None,
        "Exit status 1 for this too: inconclusive, where little could have been found.",
        metavar="STATUS",
        autocompletion=o.among(("inconclusive",)),
    )


@o.grouped
def audit_command(
    made_with: MechanismOptions,
    network: o.NetworkOptions,
    sampling: SamplingOptions,
    asked: FindingOptions,
    workers: o.WorkerOptions,
    output: o.OutputOptions,
    mechanism: Annotated[
        str | None,
        typer.Argument(
            metavar="MECHANISM",
            autocompletion=o.names_of("mechanisms"),
            help="A registered name (see `pdpaudit list`), path/to/file.py:Name, module:Name, or "
            "a name in ./mechanisms.py.",
        ),
    ] = None,
) -> int:
    """Try to break a mechanism's privacy claim.

    Without --edges it looks for neighbouring networks on planted instances and embedded real
    networks; with a network it rewires that network's protected people.
    """
    reading = network.asked_for()
    from pdpaudit.cli.output import check_writable
    from pdpaudit.report.terminal import show_audit, show_exposure, show_next
    from pdpaudit.results.results import exit_status

    check_writable(output.json_file)
    if asked.fail_on not in (None, "inconclusive"):
        raise InputError(f"--fail-on {asked.fail_on}: give inconclusive, or leave it out")
    plan = replace(sampling.plan(output, workers.jobs), explain=asked.explain)
    if asked.relation == "all" and (asked.prove or asked.explain or asked.observe == "all"):
        raise InputError(
            "--relation all goes without --prove, --explain and --observe all; name one relation"
        )
    if asked.observe == "all" and (workers.store is not None or asked.prove or asked.explain):
        raise InputError(
            "--observe all goes without --store, --prove and --explain; name one observable"
        )
    if mechanism is None and made_with.program is None:
        raise InputError("MECHANISM: name one (`pdpaudit list` shows all), or a program: --exec")
    made, spec, plan = _made(mechanism, made_with, asked, plan)
    mechanism = mechanism or str(made_with.program)
    screen = output.screen()
    screen.print(f"pdpaudit audit {mechanism}, seed {plan.seed}", markup=False)
    networks, file = _networks(made, reading, made_with.max_degree, plan, screen)
    if asked.exposure and file is None:
        raise InputError("--exposure is about the people of a network; give it with --edges")
    audited = _Audited(mechanism, made, spec, networks, file)
    result = _audit(audited, plan, made_with.max_degree, asked, workers, output)
    output.keep(result)
    show_audit(screen, result, o.flagged)
    if asked.exposure:
        show_exposure(screen, result.context["exposure"])
    output.write(screen, result)
    show_next(screen, result, str(output.json_file) if output.saved else "")
    if left := [claim.statement for claim in result.claims if claim.status == "skipped"]:
        typer.echo(f"pdpaudit: Interrupted; no verdict on {', '.join(left)}", err=True)
        return INTERRUPTED
    return exit_status(result.status, asked.fail_on)


@dataclass(frozen=True)
class _Audited:
    """A mechanism as it was named and made, and the networks it runs on."""

    name: str
    made: object
    spec: Specification | None
    networks: Sequence[Network]
    file: dict[str, object] | None


def _made(
    name: str | None, made_with: MechanismOptions, asked: FindingOptions, plan: Config
) -> tuple[object, Specification | None, Config]:
    """Return the mechanism, how it was made, and the plan with its number of samples."""
    from pdpaudit.auditing.side_channels import ALL, REPRESENTATION, SAMPLES, observed
    from pdpaudit.core.subject import Subject
    from pdpaudit.core.variants import ALL as EACH
    from pdpaudit.core.variants import promising, refuse_without_claim, related

    made: object
    spec: Specification | None
    made, spec = _named(name, made_with)
    name = name or str(made_with.program)
    if asked.observe == ALL and asked.claim is not None:
        raise InputError("--observe all goes without --claim; name one observable")
    if asked.observe not in (None, ALL):
        made = seen = observed(made, asked.observe)
        spec = seen.specification(spec)
        if asked.observe != REPRESENTATION:
            plan = replace(plan, default_samples=SAMPLES)
    if asked.claim is None:
        refuse_without_claim(made, name)
    else:
        made = seen = promising(Subject.of(made), name, None, None, "the command", asked.claim)
        spec = seen.specification(spec)
    if asked.relation not in (None, EACH):
        made = seen = related(made, asked.relation)
        spec = seen.specification(spec)
    return made, spec, plan


def _named(name: str | None, made_with: MechanismOptions) -> tuple[object, Specification]:
    """Return a mechanism of this Python, or of another process, and how it was made."""
    from pdpaudit.core.registry import make_mechanism

    python, command = made_with.python, made_with.program
    parameters = {} if name is None else made_with.parameters(name)
    if name is not None and python is None and command is None:
        return make_mechanism(name, parameters)
    from pdpaudit.adapters.elsewhere import made_elsewhere

    kept = ("max_degree", "python", "program")
    for option, value in vars(made_with).items() if name is None else ():
        if option not in kept and value:
            raise ParameterError(option, value, "a program takes no such; put it into the command")
    return made_elsewhere(name, parameters, python=python, command=command)


def _networks(
    made: object,
    reading: o.NetworkOptions | None,
    max_degree: int | None,
    plan: Config,
    screen: Console,
) -> tuple[list[Network], dict[str, object] | None]:
    """Return the networks to search for pairs, and how the user's was read."""
    from pdpaudit.auditing.candidate_pairs import networks_for, refuse_beside_pairs
    from pdpaudit.core.subject import Subject

    subject = Subject.of(made)
    if reading is None:
        return networks_for(subject, None, max_degree, budget=plan.budget), None
    if subject.has("pairs"):
        refuse_beside_pairs(edges=reading)
    network, said, reading = reading.read(plan.seed)
    if max_degree is None:
        said = [
            *said,
            "no --max-degree: noise that grows with the degree is scaled for "
            f"{network.n - 1:,}, the most that {network.n:,} vertices allow",
        ]
    for line in said:
        screen.print(line, markup=False)
    return [replace(network, max_degree=max_degree)], reading.to_json()


def _audit(
    audited: _Audited,
    plan: Config,
    max_degree: int | None,
    asked: FindingOptions,
    workers: o.WorkerOptions,
    output: o.OutputOptions,
) -> Result:
    """Audit in the workers and with the store asked for."""
    from pdpaudit.auditing import audit
    from pdpaudit.auditing.pipeline import audit_relations, audit_released
    from pdpaudit.auditing.provenance import store_settings
    from pdpaudit.cli.output import progress
    from pdpaudit.sampling import backend

    if workers.backend == "dask" and workers.jobs != -1:
        raise InputError("--backend dask uses all workers of its scheduler; leave --jobs out")
    made, spec, file = audited.made, audited.spec, audited.file
    kept_file = None if file is None else {**file, "names": None}  # draws do not depend on names
    given = partial(store_settings, made, spec, plan.seed, max_degree=max_degree, file=kept_file)
    with (
        _keeping(workers.store, plan.seed, given) as kept,
        backend(workers.backend, workers.scheduler) as where,
        progress(quiet=output.quiet) as watcher,
    ):
        if where:
            output.screen().print(where, markup=False)
        remarks: list[str] = []
        more: dict[str, object] = {"names": True} if "names" in (file or {}) else {}
        if asked.exposure:
            # First, so that a refusal costs no audit.
            from pdpaudit.auditing.exposure import measure_exposure

            [network] = audited.networks
            until = math.inf
            if plan.time_limit is not None:  # half of it for either
                half = plan.time_limit / 2
                plan, until = replace(plan, time_limit=half), time.monotonic() + half
            exposure = measure_exposure(made, network, watcher=watcher, until=until)
            more["exposure"] = exposure.to_json(network)
            remarks = [exposure.remark()] if exposure.late else []
        run = audit_released if asked.observe == "all" else audit
        run = audit_relations if asked.relation == "all" else run
        if asked.prove:
            from pdpaudit.auditing.proof import prove_claim

            run = partial(audit, prover=prove_claim)
        plan, name = replace(plan, store=kept), audited.name
        result = run(
            made, audited.networks, plan, subject=name, spec=spec, file=file, watcher=watcher
        )
    return replace(result, remarks=(*result.remarks, *remarks), context={**result.context, **more})


@contextmanager
def _keeping(
    path: Path | None, seed: int, settings: Callable[[], Mapping[str, str]]
) -> Iterator[Store | None]:
    """Open the store asked for, if any; commit and close it whatever happens."""
    if path is None:
        yield None
        return
    from pdpaudit.sampling import Store

    store = Store(path, settings())
    try:
        with store:
            yield store
    except KeyboardInterrupt:
        runs = store.found + store.added
        typer.echo(
            f"pdpaudit: interrupted before anything was confirmed; {runs:,} runs are kept in "
            f"{path}, the same command with --seed {seed} goes on from there",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
