"""What a program calls: one function for each command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

if TYPE_CHECKING:
    from typing import Unpack

    from pdpaudit.adapters.elsewhere import Made
    from pdpaudit.checks import Options
    from pdpaudit.checks.sensitivity import Question
    from pdpaudit.core.claim import PrivacyClaim
    from pdpaudit.core.domains import Domain
    from pdpaudit.core.network import Network
    from pdpaudit.results.results import Result

__all__ = ["audit", "check", "load", "simulate"]


class Budget(TypedDict, total=False):
    """What an audit may spend; as for :class:`pdpaudit.auditing.Config`."""

    samples: int | None
    confidence: float
    method: str | None
    budget: str
    jobs: int
    tries: int | None
    time_limit: float | None
    detect: float | None
    explain: bool


class AuditOptions(Budget, total=False):
    """That, the root of its randomness, and how the mechanism is made."""

    seed: int | None
    python: str | None
    d_in: float | None


def audit(
    mechanism: object,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: PrivacyClaim | str | None = None,
    pairs: Sequence[object] | None = None,
    relation: str | None = None,
    domain: Domain | Network | None = None,
    networks: Network | Sequence[Network] | None = None,
    **options: Unpack[AuditOptions],
) -> Result:
    """Try to break a mechanism's privacy claim.

    In a notebook a line shows how far it is.

    Parameters
    ----------
    mechanism : Mechanism, class, function or str
        An object with ``run(instance, rng)``, a class that is made without arguments, a function
        ``f(x, rng)``, or a name as on the command line.
    epsilon, delta : float, optional
        The claim to test, ε in nats; default: what the mechanism claims. With ``epsilon`` alone,
        ``delta`` is 0.
    claim : PrivacyClaim or str, optional
        A claim in another unit, such as ``PrivacyClaim.zcdp(0.5)`` or ``"zcdp:0.5"``.
    pairs : sequence, optional
        Neighbouring inputs, each ``(left, right)`` or ``("name", left, right)``; default: those of
        the mechanism or its domain, else neighbouring networks.
    relation : str, optional
        Which inputs of the domain are neighbours, such as ``"replace"``, or ``"all"`` for a claim
        under each relation; default: the first that the domain knows.
    domain : optional
        What the inputs are, one of :mod:`pdpaudit.relations`, or a network; default: the
        mechanism's own ``domain``.
    networks : Network or sequence of Network, optional
        Where to look for neighbouring networks; default: the benchmark networks.
    **options
        ``samples``, fresh ones a side for each claim, as a fixed plan; default: the exact law
        where there is one, else stages that end once enough is known. ``seed``, the root of all
        randomness; the same gives the same result. ``confidence``, ``method``, ``jobs``,
        ``tries``, ``time_limit`` and ``detect``, as the options of ``pdpaudit audit``; ``budget``
        is "quick", "default" or "thorough". With ``explain`` a violated claim says which line of
        the mechanism parts its two sides. ``python``, the path of another interpreter, that makes
        and runs the named mechanism; ``d_in`` is the distance between two neighbouring inputs of
        a library's object.

    Returns
    -------
    Result
        With one claim for each promise.

    Raises
    ------
    InputError
        If the request makes no sense.

    Examples
    --------
    >>> def leaky(x, rng):
    ...     return x + rng.laplace(scale=0.5)
    >>> result = audit(leaky, epsilon=1, pairs=[(0.0, 1.0)], samples=5_000, seed=1)
    >>> result.violated, 1 < result.lower_bound < 2
    (True, True)
    >>> from pdpaudit.relations import Bounded, Records
    >>> def count(rows, rng):
    ...     return len(rows) + rng.laplace()
    >>> audit(count, epsilon=1, domain=Records(Bounded(0, 9)), samples=5_000, seed=1).violated
    False
    """
    from pdpaudit.adapters.elsewhere import prepared
    from pdpaudit.auditing import Config
    from pdpaudit.auditing import audit as carry_out
    from pdpaudit.auditing.candidate_pairs import networks_for
    from pdpaudit.auditing.pipeline import audit_relations
    from pdpaudit.core.errors import InputError, refuse_unknown
    from pdpaudit.core.variants import ALL, EXPLICIT, Variant, promising, related, specified
    from pdpaudit.sampling import draw_seed
    from pdpaudit.sampling.engine import in_notebook

    refuse_unknown("audit", options, AuditOptions.__optional_keys__)
    made: Made = {"python": options.pop("python", None), "d_in": options.pop("d_in", None)}
    seed, budget = draw_seed(options.pop("seed", None)), cast(Budget, options)
    subject, name, spec = specified(prepared(mechanism, made), Path.cwd())
    subject = promising(subject, name, epsilon, delta, "the call", claim)
    spec = subject.specification(spec)
    if pairs is not None:
        if (relation or domain is not None) and relation not in (EXPLICIT, ALL):
            raise InputError("pairs: give them, or a relation and a domain, and not both")
        subject = Variant(subject, pairs=pairs)
        spec = subject.specification(spec)
    config = Config(seed, default_samples=subject.default_samples, **budget)
    if relation == ALL:
        rewired = networks_for(related(subject, None, domain), networks, budget=config.budget)
        with in_notebook() as watcher:
            return audit_relations(
                subject, rewired, config, subject=name, spec=spec, domain=domain, watcher=watcher
            )
    subject = related(subject, relation, domain)
    spec = subject.specification(spec)
    where = networks_for(subject, networks, budget=config.budget)
    with in_notebook() as watcher:
        return carry_out(subject, where, config, subject=name, spec=spec, watcher=watcher)


def check(
    sop: object,
    *,
    relation: str | None = None,
    domain: Domain | None = None,
    sensitivity: float | Callable[[int], float] | None = None,
    seed: int | None = None,
    options: Options | None = None,
) -> Result:
    """Check what a statistic of proximity declares, and that it behaves.

    In a notebook a line shows how far it is.

    Parameters
    ----------
    sop : StatisticOfProximity, class or str
        The statistic, a class that makes one without arguments, or a name as on the command line;
        with ``relation`` any function of one input. One of graphs may have a fast path
        ``values(adjacencies)``, from a bool array of shape ``(graphs, n, n)`` to what it gives of
        each, row by row.
    relation : str, optional
        Check the sensitivity of a function between neighbours under this relation instead, such as
        ``"edge"`` or ``"add-remove"``.
    domain : optional
        What the function's inputs are, one of :mod:`pdpaudit.relations`; default: its own
        ``domain``, else graphs.
    sensitivity : float or callable, optional
        What to check, a number or a function of the largest degree; default: its own
        ``sensitivity``.
    seed : int, optional
        Root of all randomness. Default: that of ``options``.
    options : Options, optional
        How far to go, and which checks; see :class:`pdpaudit.checks.Options`.

    Returns
    -------
    Result
        With one entry for each check.

    Raises
    ------
    InputError
        If it is no statistic.

    Examples
    --------
    >>> from pdpaudit.checks import Options
    >>> result = check("CN", options=Options(max_vertices=3, examples=0))
    >>> [one.status for one in result.checks if one.name == "targeted-sensitivity"]
    ['certified']
    >>> ties = check(lambda graph: graph.number_of_edges(), relation="edge", sensitivity=1)
    >>> ties.checks[0].observed
    1.0
    """
    import time

    from pdpaudit.auditing.provenance import origin_of
    from pdpaudit.checks import Options, check_names, check_sop
    from pdpaudit.checks.sensitivity import Question
    from pdpaudit.core.errors import InputError, ParameterError
    from pdpaudit.core.registry import make_sop, resolve
    from pdpaudit.core.variants import named_sop
    from pdpaudit.results.results import Result
    from pdpaudit.sampling import draw_seed
    from pdpaudit.sampling.engine import in_notebook

    if relation is not None:
        name = sop if isinstance(sop, str) else named_sop(sop, Path.cwd())[1]
        given = resolve("functions", sop) if isinstance(sop, str) else sop
        question = Question.of(given, relation, domain, sensitivity)
        return checked_sensitivity(
            question, None if domain else name, sensitivity, seed=draw_seed(seed or 0)
        )
    if domain is not None or sensitivity is not None:
        raise InputError("domain and sensitivity are of a `relation`; give that too")
    if not isinstance(options, Options | None):
        raise ParameterError("options", repr(options), "give pdpaudit.checks.Options(...)")
    began, chosen = time.monotonic(), Options() if options is None else options
    if seed is not None:
        chosen = replace(chosen, seed=draw_seed(seed))
    name, where = named_sop(sop, Path.cwd())
    statistic = make_sop(sop) if isinstance(sop, str) else sop
    with in_notebook() as watcher:
        watcher.say(f"checking {where or name}")
        watcher.stage(f"checking {where or name}", len(chosen.select or check_names()))
        checks = check_sop(statistic, chosen, after=lambda _: watcher.advance(1))
    found = tuple(one.of(where) for one in checks)
    return Result(
        "check",
        where or name,
        chosen.seed,
        time.monotonic() - began,
        checks=found,
        **origin_of(statistic),
    )


def checked_sensitivity(
    question: Question,
    name: str | None,
    sensitivity: float | Callable[[int], float] | None,
    *,
    seed: int = 0,
    most: int | None = None,
    examples: int = 3000,
    time_limit: float = 120.0,
) -> Result:
    """Check the sensitivity of a function; its name, and the one asked for, make it again."""
    import time

    from pdpaudit.auditing.provenance import origin_of
    from pdpaudit.checks.sensitivity import LARGEST, check_sensitivity
    from pdpaudit.results.results import Result

    began, function = time.monotonic(), question.function
    effort = {"most": LARGEST if most is None else most, "examples": examples, "seed": seed}
    found = check_sensitivity(question, **effort, time_limit=time_limit)
    asked = None if callable(sensitivity) else sensitivity
    if found.witness is not None and name is not None and asked == sensitivity:
        more = {"specification": name, "sensitivity": asked}
        found = replace(found, witness={**found.witness, **more})
    options = {"relation": question.relation, **({} if asked is None else {"sensitivity": asked})}
    return Result(
        "check",
        name or str(getattr(function, "__name__", type(function).__name__)),
        seed,
        time.monotonic() - began,
        checks=(found,),
        context={"options": options},
        **origin_of(function),
    )


def simulate(
    mechanisms: Mapping[str, object] | Sequence[object],
    network: Network,
    *,
    budget: int | None = None,
    runs: int = 100,
    seed: int | None = None,
    jobs: int = 1,
) -> Result:
    """Run searches many times on a network, and count whom they find after how many oracle calls.

    In a notebook a line shows how far it is.

    Parameters
    ----------
    mechanisms : mapping or sequence
        Searches, by what to call them; each an object, a class or a name as on the command line.
    network : Network
        Where to search.
    budget : int, optional
        Oracle calls of a run; default: a fifth of the people, from 2,000 to 20,000.
    runs : int
        Runs of each search.
    seed, jobs : int, optional
        Root of all randomness, and worker processes.

    Returns
    -------
    Result
        With the curves under ``context``.

    Raises
    ------
    InputError
        If the request makes no sense.

    Examples
    --------
    >>> from pdpaudit.auditing import benchmark_networks
    >>> karate = next(one for one in benchmark_networks() if one.title == "karate club")
    >>> result = simulate(["SFS", "PTarget"], karate, runs=3, seed=1)
    >>> [search["name"] for search in result.context["simulation"]["searches"]]
    ['SFS', 'PTarget']
    """
    import time

    from pdpaudit.core.errors import InputError
    from pdpaudit.core.network import Network
    from pdpaudit.core.variants import specified
    from pdpaudit.experiments.simulation import Contestant, default_budget
    from pdpaudit.experiments.simulation import simulate as carry_out
    from pdpaudit.results.results import Result
    from pdpaudit.sampling import draw_seed
    from pdpaudit.sampling.engine import in_notebook

    if not isinstance(network, Network):
        raise InputError(f"network: a {type(network).__name__} is none; see read_network")
    began, drawn = time.monotonic(), draw_seed(seed)
    listed = mechanisms.values() if isinstance(mechanisms, Mapping) else mechanisms
    made = [specified(one, Path.cwd()) for one in listed]
    names = list(mechanisms) if isinstance(mechanisms, Mapping) else [name for _, name, _ in made]
    contestants = [
        Contestant(str(title), subject.origin, name)
        for title, (subject, name, _) in zip(names, made, strict=True)
    ]
    calls = default_budget(network) if budget is None else budget
    with in_notebook() as watcher:
        found = carry_out(
            network, contestants, budget=calls, runs=runs, seed=drawn, jobs=jobs, watcher=watcher
        )
    title = ", ".join(one.name for one in contestants)
    elapsed = time.monotonic() - began
    return Result("simulate", title, drawn, elapsed, context={"simulation": found})


def load(path: str | Path) -> Result:
    """Read a result that was written with ``--json``, or as JSON of ``to_json()``.

    Raises
    ------
    InputError
        If the file is missing, or is not a result.

    Examples
    --------
    >>> import json, tempfile
    >>> from pdpaudit.results.results import Result
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "result.json")
    ...     _ = path.write_text(json.dumps(Result("audit", "SFS", 1, 0.0).to_json()))
    ...     load(path).subject
    'SFS'
    """
    from pdpaudit.report.sources import read_source

    return read_source(Path(path)).result
