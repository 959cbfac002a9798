"""Audit published claims: each by the machinery that would audit anybody's.

A catalogue, found under the entry-point group ``pdpaudit.claims``, says of each claim what it
states, where, and what to audit for it. The verdict is whatever comes of that. A claim registered
as ``graph:G1`` is claim G1 of the paper ``graph`` of the group ``pdpaudit.papers``; one without a
colon is of the paper ``kearns``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

from pdpaudit.auditing import Config, Watcher, audit, benchmark_networks
from pdpaudit.auditing.candidate_pairs import CandidatePair
from pdpaudit.auditing.claim_results import AuditContext
from pdpaudit.auditing.config import Silent
from pdpaudit.auditing.exact_verdict import EXACT_SLACK, audit_by_law
from pdpaudit.auditing.proof import prove_claim
from pdpaudit.auditing.provenance import source_digest
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.network import Network
from pdpaudit.core.privacy_loss import (
    composition_table,
    optimal_composition,
    paper_composition,
    paper_composition_proved,
)
from pdpaudit.core.protocols import (
    LawfulMechanism,
    LawUnavailable,
    Mechanism,
    StatisticOfProximity,
)
from pdpaudit.core.registry import (
    KEARNS,
    claims_of,
    loaded,
    make_mechanism,
    make_sop,
    registered,
)
from pdpaudit.core.statistic import stated_error
from pdpaudit.core.subject import Subject
from pdpaudit.outputs.records import JSON
from pdpaudit.results.results import CheckResult, ClaimResult, Result, worst

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Audited:
    """What came of one published claim; ``largest`` is a loss above that of its witness."""

    findings: tuple[ClaimResult | CheckResult, ...]
    tried: str
    largest: float | None = None


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One or several publications whose claims make one dossier.

    Where its claims are about rounds, ``composed``, the dossier compares theorems of composition;
    ``sections`` returns what else it has where no claim is left out, each section as
    :func:`.section` makes it.
    """

    title: str
    text: str
    composed: bool = False
    sections: Callable[[], Sequence[JSON]] = tuple


class Exhausted(Protocol):
    """What came of trying all small inputs: what they were, the largest loss, and where it is."""

    @property
    def scope(self) -> str:
        """What was tried."""
        ...

    @property
    def epsilon(self) -> float:
        """The largest loss."""
        ...

    @property
    def candidate(self) -> CandidatePair | None:
        """A pair that loses it, if any loses something."""
        ...


class PublishedClaim(Protocol):
    """A claim somebody has published."""

    @property
    def id(self) -> str:
        """What the catalogue calls it."""
        ...

    @property
    def statement(self) -> str:
        """What is claimed, in a sentence."""
        ...

    @property
    def source(self) -> str:
        """Where it is made."""
        ...

    def examine(self, seed: int, watcher: Watcher) -> Audited:
        """Audit it."""
        ...


@dataclass(frozen=True, kw_only=True)
class MechanismClaim:
    """A claim that a mechanism keeps (ε, δ); ``known_violated`` is what its dossier says.

    No publication makes the claim of a common ``mistake``: it shows what an audit finds.
    """

    id: str
    statement: str
    source: str
    mechanism: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    number: int = 1
    networks: Callable[[], Iterable[Network]] | None = None
    exhaust: Callable[[LawfulMechanism], Exhausted] | None = None
    enclosed: bool = True
    known_violated: bool = False
    mistake: bool = False

    def examine(self, seed: int, watcher: Watcher) -> Audited:
        """Search for the worst pair, try all small inputs if asked to, prove what is violated."""
        made, spec = make_mechanism(self.mechanism, self.parameters)
        networks = list(benchmark_networks() if self.networks is None else self.networks())
        own = Subject.of(made).has("pairs")
        config = Config(seed)
        prover = prove_claim if self.enclosed else None
        result = audit(
            made,
            [] if own else networks,
            config,
            subject=self.id,
            spec=spec,
            prover=prover,
            watcher=watcher,
        )
        claim = result.claims[self.number - 1]
        tried, largest = self._tried(result, claim), None
        if self.exhaust is not None:
            try:
                small = self.exhaust(_lawful(made))
            except (LawUnavailable, Misbehaviour) as error:
                raise InputError(f"{self.id}: not every small input: {error}") from None
            tried = f"{small.scope}; and {tried}"
            worst = small.candidate
            if worst is not None and small.epsilon > (claim.exact or 0.0) + EXACT_SLACK:
                # A pair that is none of the mechanism's own has no number for a witness to name.
                if worst.pair is None and claim.status == "violated":
                    largest = small.epsilon
                    tried = f"{tried}. Most is lost by {worst.label}: {largest:.4f}"
                else:
                    run = AuditContext(Subject.of(made), self.id, spec, config, Silent())
                    claim = self._judged_by(replace(run, prover=prover), worst)
            if claim.status == "not_rejected":
                claim = replace(claim, status="certified", method=f"exhaustive: {small.scope}")
        if claim.status != "violated":
            # There is nothing to show again: the command that tried is what can be run again.
            claim = replace(claim, witness=None)
        named = replace(claim, id=self.id, statement=self.statement, source=self.source)
        return Audited((named,), tried, largest)

    def _judged_by(self, run: AuditContext, worst: CandidatePair) -> ClaimResult:
        """Return the claim judged by a pair alone."""
        judged = audit_by_law(run, [worst], run.mechanism.claims)
        assert judged is not None
        claim = judged[1][self.number - 1]
        return claim if worst.pair is not None else replace(claim, witness=None)

    def _tried(self, result: Result, claim: ClaimResult) -> str:
        parameters = ", ".join(
            f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in self.parameters.items()
        )
        how = (
            "by exact output laws"
            if claim.exact is not None
            else f"by {claim.samples.get('confirmation', 0)} fresh samples"
        )
        if test := result.law_compared:
            how += f", compared with {test.runs_a_side} runs a side on {test.pairs} of them"
        count = 0 if result.tried is None else result.tried.pairs
        return f"{self.mechanism} ({parameters}) on {count} neighbouring pairs, {how}"


@dataclass(frozen=True, kw_only=True)
class BoundClaim:
    """A claim that the targeted sensitivity of statistics is at most a function of the degree."""

    id: str
    statement: str
    source: str
    members: Sequence[tuple[str, int]]
    bound: Callable[[int, int], float]
    formula: str

    def examine(self, seed: int, watcher: Watcher) -> Audited:
        """Exhaust all small networks, and say whether the bound is attained."""
        # Every audit looks which claims are known to be violated, and few check a statistic.
        from pdpaudit.checks import Options, check_sop, require_statistic

        findings = []
        watcher.stage(f"{self.id}: exhausting small networks", len(self.members))
        for name, vertices in self.members:
            restated = _Restated(require_statistic(make_sop(name))[0], self.bound)
            options = Options(
                max_vertices=vertices,
                examples=0,
                jobs=1,
                time_limit=3600,
                seed=seed,
                select=("targeted-sensitivity", "tightness"),
            )
            held, tight = check_sop(restated, options)
            findings.append(
                replace(
                    held,
                    name=f"{self.id} {name}",
                    detail="; ".join(filter(None, (self.statement, held.detail, tight.detail))),
                )
            )
            watcher.advance(1)
        most = ", ".join(f"{name} up to {vertices} vertices" for name, vertices in self.members)
        return Audited(tuple(findings), f"every pair of neighbouring networks: {most}")


@dataclass(frozen=True)
class _Restated:
    """A statistic with somebody else's bound on its sensitivity."""

    sop: StatisticOfProximity
    bound: Callable[[int, int], float]

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        return self.sop(graph, vertex, targets)

    def sensitivity(self, max_degree: int) -> float:
        return self.bound(int(getattr(self.sop, "k", 0)), max_degree)

    def impact_cardinality(self, max_degree: int) -> int:
        return self.sop.impact_cardinality(max_degree)

    def error(self, max_degree: int) -> float:
        return stated_error(self.sop, max_degree)


def catalogue(selected: Sequence[str] | None = None, paper: str = KEARNS) -> list[PublishedClaim]:
    """Return the registered claims of a paper, C2 before C10."""
    _paper(paper)
    known = claims_of(paper)
    for name in selected or ():
        if name not in known:
            raise InputError(f"there is no claim {name!r}; known: {', '.join(_sorted(known))}")
    chosen = known if selected is None else dict.fromkeys(selected)
    return [loaded(known[name]) for name in _sorted(chosen)]


def _paper(name: str) -> Paper:
    known = {item.name: item for item in registered("papers")}
    if name not in known:
        raise InputError(f"there is no paper {name!r}; known: {', '.join(sorted(known))}")
    found: Paper = loaded(known[name])
    return found


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (len(name), name))


def audit_claims(
    claims: Sequence[PublishedClaim],
    seed: int,
    *,
    paper: str = KEARNS,
    watcher: Watcher | None = None,
) -> Result:
    """Audit published claims of a paper."""
    watcher, about = watcher or Silent(), _paper(paper)
    checks: list[CheckResult] = []
    verdicts: list[ClaimResult] = []
    entries = []
    for claim in claims:
        audited = claim.examine(seed, watcher)
        for finding in audited.findings:
            if isinstance(finding, CheckResult):
                checks.append(finding)
            else:
                verdicts.append(finding)
        entries.append(
            {
                "id": claim.id,
                "statement": claim.statement,
                "source": claim.source,
                "tried": audited.tried,
                "status": worst([finding.status for finding in audited.findings]),
                **({} if audited.largest is None else {"largest": audited.largest}),
                **({"mistake": True} if getattr(claim, "mistake", False) else {}),
            }
        )
    context: dict[str, object] = {
        "catalogue": entries,
        "paper": {"name": paper, "title": about.title, "text": about.text},
    }
    if about.composed:
        context |= {"composition": composition_rows(), "paper_form": paper_form_region()}
    # They take as long as all claims together.
    if len(entries) == len(catalogue(paper=paper)) and (more := about.sections()):
        context["sections"] = list(more)
    return Result(
        command="claims",
        subject="published claims",
        seed=seed,
        elapsed_s=0.0,
        checks=tuple(checks),
        claims=tuple(verdicts),
        context=context,
        source=source_digest(None),
    )


#: Where the composition bounds are compared: ε of a round, rounds, δ.
COMPARED = (
    (0.01, 9, 1e-3),
    (0.05, 9, 1e-3),
    (0.1, 10, 1e-6),
    (0.5, 1000, 1e-6),
    (1.0, 9, 1e-6),
    (1.0, 300, 1e-3),
    (2.0, 100, 1e-3),
)

#: What is shown of each form.
SHOWN = ("form", "formula", "epsilon", "proved", "valid", "condition")

#: Rounds up to which the paper's form is compared with the optimal one.
MOST_ROUNDS = 20_000


@cache
def composition_rows() -> list[JSON]:
    """Return every form's budget at the points compared, and whether it may be relied on."""
    return [
        {
            "epsilon": epsilon,
            "rounds": rounds,
            "delta": delta,
            "bounds": [
                {key: getattr(row, key) for key in SHOWN}
                for row in composition_table(epsilon, rounds, delta)
            ],
        }
        for epsilon, rounds, delta in COMPARED
    ]


@cache
def paper_form_region() -> list[JSON]:
    """Return up to how many rounds the paper's advanced form follows, and up to how many it holds.

    Beyond the latter it lies below the optimal composition, and is false for some mechanism; the
    number is found by bisection, as the optimal budget grows faster. None: beyond
    :data:`MOST_ROUNDS`.
    """
    rows: list[JSON] = []
    for delta in (1e-3, 1e-6):
        for epsilon in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0):
            proved = partial(paper_composition_proved, epsilon, delta=delta)
            holds = partial(_paper_holds, epsilon, delta=delta)
            rows.append(
                {
                    "epsilon": epsilon,
                    "delta": delta,
                    "proved_up_to": _last(proved),
                    "holds_up_to": _last(holds),
                }
            )
    return rows


def _paper_holds(epsilon: float, rounds: int, delta: float) -> bool:
    optimal = optimal_composition(epsilon, rounds, delta)
    return paper_composition(epsilon, rounds, delta) >= optimal * (1 - 1e-9)


def _last(holds: Callable[[int], bool]) -> int | None:
    """Return the last whole number at which something holds that ends once; None if too large."""
    low, high = 0, 1
    while holds(high):
        low, high = high, 2 * high
        if low > MOST_ROUNDS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _lawful(mechanism: Mechanism) -> LawfulMechanism:
    if not isinstance(mechanism, LawfulMechanism):
        raise InputError("all small inputs are tried by exact laws, and it has none")
    return mechanism
