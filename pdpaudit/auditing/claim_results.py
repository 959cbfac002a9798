"""Build the result of one claim: numbers, words and a witness."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.config import Config, Watcher
from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.neighbors import PROTECTED, NeighborPair
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Event, Side, batch_of
from pdpaudit.outputs.records import JSON
from pdpaudit.outputs.words import Vocabulary, event_words, list_names
from pdpaudit.results.results import ClaimResult, Status
from pdpaudit.results.witnesses import AuditWitness, PairWitness
from pdpaudit.sampling import Misbehaviour, draw

__all__ = [
    "UNSEEDED",
    "AuditContext",
    "Evidence",
    "Prover",
    "claim_fields",
    "ended_by",
    "list_names",
    "pair_json",
    "pair_words",
    "unconfirmed_claim",
]


#: What is said of a mechanism whose randomness is its own.
UNSEEDED = (
    "its randomness is its own and has no seed: the command again draws other runs and gives other "
    "numbers; it cannot be replayed to the bit, and replay draws anew at the recorded pair and "
    "event and compares"
)

#: Outputs a side that say whether a mechanism is a search.
LOOKED_AT = 8

#: Proves a violated claim on the pair that shows it, or says why not.
Prover = Callable[[ClaimResult, Subject, MeasuredPair | None], ClaimResult]


@dataclass(frozen=True)
class AuditContext:
    """What is the same for all claims of one audit."""

    mechanism: Subject
    subject: str
    spec: Mapping[str, Any]
    config: Config
    watcher: Watcher
    file: dict[str, Any] | None = field(default=None)
    remarks: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    compared: dict[str, Any] = field(default_factory=dict)
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

    def proved(self, claim: ClaimResult, pair: MeasuredPair | None) -> ClaimResult:
        """Return a claim with its proof, where one was asked for."""
        if self.prover is None or claim.status != "violated":
            return claim
        if self.late:
            self.remark("the time limit left no time for a proof")
            return claim
        return self.prover(claim, self.mechanism, pair)


@dataclass(frozen=True)
class Evidence:
    """A claim, and the pair and the event that it is judged by."""

    context: AuditContext
    number: int
    claim: PrivacyClaim
    candidate: CandidatePair
    event: Event


def claim_fields(
    evidence: Evidence, method: str, shown: Mapping[str, object], **witnessed: Any
) -> JSON:
    """Return the fields that all verdicts on a claim share; ``shown`` is of the event.

    ``witnessed`` are the fields of :class:`AuditWitness` that only some verdicts have.
    """
    context, candidate, event = evidence.context, evidence.candidate, evidence.event
    pair = (
        {
            "words": candidate.words(event.side),
            "number": candidate.number,
            **({} if candidate.sides is None else {"sides": list(candidate.sides)}),
        }
        if candidate.pair is None
        else pair_json(candidate.pair, event.side, context.file)
    )
    body, config = event.to_json(), context.config
    known = {"method": method, "seed": config.seed, "samples": config.size, **witnessed}
    if UNSEEDED in context.remarks:
        known["unseeded"] = True
    spec = dict(context.spec)
    witness = AuditWitness(mechanism=spec, claim=evidence.number, pair=pair, event=body, **known)
    words = event_words(event, _vocabulary(context, candidate))
    return {
        **_named(context, evidence.number, evidence.claim),
        "method": method,
        "event": {**body, "words": words, **shown},
        "pair": {key: value for key, value in pair.items() if key != "base"},
        "witness": witness.to_json(),
    }


def _named(context: AuditContext, number: int, claim: PrivacyClaim) -> JSON:
    relation, statement = context.mechanism.relation, claim.statement
    if relation not in ("", PROTECTED):
        statement = f"{statement}, {relation}"
    elif not context.mechanism.has("pairs"):  # of networks, as in the paper
        statement = statement.replace("-DP", "-protected DP")
    return {
        "id": f"{context.subject} #{number}",
        "statement": statement,
        "source": claim.source,
        "claimed": claim.to_json(),
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
    samples: dict[str, int] | None = None,
) -> ClaimResult:
    """Return the result of a claim that could not be confirmed."""
    named = _named(context, number, claim)
    return ClaimResult(**named, status=status, method=why, samples=samples or {})


def _vocabulary(context: AuditContext, candidate: CandidatePair) -> Vocabulary:
    """Return the words for what is observed: no word of searches for what is none."""
    wording, pair = context.mechanism.wording, candidate.pair
    if pair is None or not (wording or _is_search(context, candidate, pair.network)):
        return Vocabulary(**wording)
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


def pair_words(pair: NeighborPair, to: Side) -> str:
    """Say what is rewired, towards the side named."""
    name = pair.network.name
    sides = [sorted(side.tolist()) for side in (pair.left_neighbours, pair.right_neighbours)]
    before, after = sides if to == "right" else reversed(sides)
    said = [list_names(map(name, side)) for side in (before, after)]
    own = pair.own_side
    if own == "neither":
        said[1] += " (neither as in the file)"
    elif own is not None:
        said[own == to] += " (as in the file)"
    return f"rewiring {name(pair.vertex)} from {said[0]} to {said[1]}"


def pair_json(pair: NeighborPair, to: Side, file: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the JSON form of a pair with its words, which lead to the side ``to``."""
    name = pair.network.name
    witness = PairWitness.of(pair, file)
    body = {key: value for key, value in witness.to_json().items() if key != "base"}
    left, right = {*witness.left}, {*witness.right}
    before, after = (left, right) if to == "right" else (right, left)
    return {
        **body,
        "vertex_name": name(pair.vertex),
        "lost": [name(v) for v in sorted(before - after)],
        "gained": [name(v) for v in sorted(after - before)],
        "words": pair_words(pair, to),
        "base": witness.base.to_json(),
    }
