"""Build the result of one claim: numbers, words and a witness."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.config import Config, Watcher
from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.network import PROTECTED, Network
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.specification import Specification
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Event, batch_of
from pdpaudit.outputs.records import JSON
from pdpaudit.outputs.words import Vocabulary, event_words
from pdpaudit.results.measurements import ClaimEvent, LawComparison
from pdpaudit.results.pairs import NetworkPair, OwnPair, Pair
from pdpaudit.results.results import ClaimResult, Status
from pdpaudit.results.witnesses import AuditWitness, NestedBets
from pdpaudit.sampling import Misbehaviour, draw

#: What is said of a mechanism whose randomness is its own.
UNSEEDED = (
    "its randomness is its own and has no seed: the command again draws other runs and gives other "
    "numbers; it cannot be replayed to the bit, and replay draws anew at the recorded pair and "
    "event and compares"
)

#: What is said of runs that raise.
RAISED = "some runs raised {}; that counts as an output"

#: Outputs a side that say whether a mechanism is a search.
LOOKED_AT = 8

#: Proves a violated claim on the pair that shows it, or says why not.
Prover = Callable[[ClaimResult, Subject, MeasuredPair | None], ClaimResult]


@dataclass(frozen=True)
class AuditContext:
    """What is the same for all claims of one audit."""

    mechanism: Subject
    subject: str
    spec: Specification | None
    config: Config
    watcher: Watcher
    file: JSON | None = None
    remarks: list[str] = field(default_factory=list)
    raised: set[str] = field(default_factory=set)
    blocked: list[str] = field(default_factory=list)
    compared: list[LawComparison] = field(default_factory=list)
    prover: Prover | None = None
    began: float = field(default_factory=time.monotonic)

    def until(self, share: float = 1.0) -> float:
        """Return the time at which a share of the time limit is spent, by the monotonic clock."""
        limit = self.config.time_limit
        return math.inf if limit is None else self.began + share * limit

    @property
    def late(self) -> bool:
        """Whether the time limit is reached."""
        return time.monotonic() > self.until()

    def remark(self, words: str) -> None:
        """Keep what is to be said of how the mechanism behaved, once."""
        if words not in self.remarks:
            self.remarks.append(words)

    def remark_failures(self, failures: Mapping[str, str]) -> None:
        """Keep that runs raised: of each class of exceptions the first, which says enough."""
        for kind, words in failures.items():
            if kind not in self.raised:
                self.raised.add(kind)
                self.remark(RAISED.format(words))

    def proved(self, claim: ClaimResult, pair: MeasuredPair | None) -> ClaimResult:
        """Return a claim with its proof, where one was asked for."""
        if self.prover is None or claim.status != "violated":
            return claim
        if self.late:
            self.remark("the time limit left no time for a proof")
            return claim
        return self.prover(claim, self.mechanism, pair)


class Named(TypedDict):
    """The fields of a verdict that say what claim it is on."""

    id: str
    statement: str
    source: str
    promise: PrivacyClaim


class Judged(Named):
    """The fields that all measured verdicts have."""

    method: str
    event: ClaimEvent
    pair: Pair
    witness: AuditWitness


class Witnessed(TypedDict, total=False):
    """The fields of :class:`.AuditWitness` that only some verdicts have."""

    alpha: float | None
    ends: tuple[float, float] | None
    confidence: float | None
    single: bool | None
    detectable: float | None
    ladder: tuple[Event, ...] | None
    looks: tuple[int, ...] | None
    enough: bool | None
    known: tuple[int, ...] | None
    detect: float | None
    weighed: NestedBets | None
    unseeded: bool | None


@dataclass(frozen=True)
class Evidence:
    """A claim, and the pair and the event that it is judged by."""

    context: AuditContext
    number: int
    claim: PrivacyClaim
    candidate: CandidatePair
    event: Event


def claim_fields(
    evidence: Evidence, method: str, shown: ClaimEvent, witnessed: Witnessed
) -> Judged:
    """Return the fields that all verdicts on a claim share; ``shown`` is of the event."""
    context, candidate, event = evidence.context, evidence.candidate, evidence.event
    pair: Pair
    if candidate.pair is None:
        pair = OwnPair(candidate.words(event.side), candidate.number, candidate.sides)
    else:
        pair = NetworkPair.of(candidate.pair, event.side, context.file)
    if UNSEEDED in context.remarks:
        witnessed = {**witnessed, "unseeded": True}
    return {
        **_named(context, evidence.number, evidence.claim),
        "method": method,
        "event": replace(
            shown,
            definition=event,
            words=event_words(event, _vocabulary(context, candidate)),
        ),
        "pair": pair.shown,
        "witness": AuditWitness(
            mechanism=context.spec,
            claim=evidence.number,
            pair=pair,
            event=event,
            method=method,
            seed=context.config.seed,
            samples=context.config.size,
            **witnessed,
        ),
    }


def _named(context: AuditContext, number: int, claim: PrivacyClaim) -> Named:
    relation, statement = context.mechanism.relation, claim.statement
    if relation not in ("", PROTECTED):
        statement = f"{statement}, {relation}"
    elif not context.mechanism.has("pairs"):  # of networks, as in the paper
        statement = statement.replace("-DP", "-protected DP")
    return {
        "id": f"{context.subject} #{number}",
        "statement": statement,
        "source": claim.source,
        "promise": claim,
    }


def ended_by(error: Misbehaviour) -> Status:
    """Return what a claim is that nothing was found out about because of an error."""
    return "inconclusive" if isinstance(error, OutOfTime) else "error"


def unconfirmed_claim(
    context: AuditContext,
    number: int,
    claim: PrivacyClaim,
    why: str,
    *,
    status: Status = "error",
    samples: Mapping[str, int] | None = None,
) -> ClaimResult:
    """Return the result of a claim that could not be confirmed."""
    named = _named(context, number, claim)
    return ClaimResult(**named, status=status, method=why, samples=samples or {})


def _vocabulary(context: AuditContext, candidate: CandidatePair) -> Vocabulary:
    """Return the words for what is observed: no word of searches for what is none.

    What is a number by its wording names nobody.
    """
    wording, pair = context.mechanism.wording, candidate.pair
    if pair is None or "number" in wording:
        return Vocabulary(**wording)
    if not (wording or _is_search(context, candidate, pair.network)):
        return Vocabulary()
    return Vocabulary(**{"name": pair.network.name, "done": "found", **wording})


def _is_search(context: AuditContext, candidate: CandidatePair, network: Network) -> bool:
    """Say whether a few outputs list targeted vertices, each once; those that fail say nothing."""
    lists: list[tuple[Hashable, ...] | None] = []
    try:
        for side, instance in zip(("left", "right"), candidate.inputs(), strict=True):
            draws = draw(
                context.mechanism,
                instance,
                LOOKED_AT,
                seed=context.config.seed,
                key=("wording", side),
                until=context.until(),
            )
            groups = batch_of(draws).groups
            lists += [entries for group in groups for entries in group.entries]
    except Misbehaviour:
        return True
    listed = [entries for entries in lists if entries is not None]
    found = [entry for entries in listed for entry in entries]
    vertices = all(type(v) is int and 0 <= v < network.n and network.targeted[v] for v in found)
    return vertices and all(len({*entries}) == len(entries) for entries in listed) and bool(listed)
