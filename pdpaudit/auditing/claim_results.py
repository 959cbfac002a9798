"""Build the result of one claim: numbers, words and a witness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.config import Config, Watcher
from pdpaudit.core.neighbors import NeighborPair
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import Mechanism, PrivacyClaim
from pdpaudit.outputs import Event, Side
from pdpaudit.outputs.words import Vocabulary, event_words, list_names
from pdpaudit.results.results import ClaimResult, Status

__all__ = [
    "AuditContext",
    "Prover",
    "build_claim",
    "list_names",
    "network_json",
    "pair_json",
    "pair_words",
    "statement",
    "unconfirmed_claim",
]


#: Proves a violated claim on the pair that shows it, or says why not.
Prover = Callable[[ClaimResult, Mechanism, MeasuredPair | None], ClaimResult]


@dataclass(frozen=True)
class AuditContext:
    """What is the same for all claims of one audit."""

    mechanism: Mechanism
    subject: str
    spec: Mapping[str, Any]
    config: Config
    watcher: Watcher
    file: dict[str, Any] | None = field(default=None)
    remarks: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    compared: dict[str, Any] = field(default_factory=dict)
    prover: Prover | None = None

    def remark(self, words: str) -> None:
        """Keep what is to be said of how the mechanism behaved, once."""
        if words not in self.remarks:
            self.remarks.append(words)

    def proved(self, claim: ClaimResult, pair: MeasuredPair | None) -> ClaimResult:
        """Return a claim with its proof, where one was asked for."""
        return self.prover(claim, self.mechanism, pair) if self.prover else claim


def build_claim(
    context: AuditContext,
    number: int,
    claim: PrivacyClaim,
    candidate: CandidatePair,
    event: Event,
    *,
    status: Status,
    lower_bound: float,
    exact: float | None,
    method: str,
    samples: dict[str, int],
    detectable_epsilon: float | None,
    counts: dict[str, Any],
    alpha: float | None = None,
    witnessed: Mapping[str, Any] | None = None,
    inference: Mapping[str, Any] | None = None,
    detail: str = "",
) -> ClaimResult:
    """Put together the result of one claim."""
    pair = (
        {"words": candidate.label, "number": candidate.number}
        if candidate.pair is None
        else pair_json(candidate.pair, event.side, context.file)
    )
    shown = {
        **event.to_json(),
        "words": event_words(event, _vocabulary(context, candidate)),
        **counts,
    }
    witness = {
        "kind": "audit",
        "mechanism": dict(context.spec),
        "claim": number,
        "pair": pair,
        "event": event.to_json(),
        "method": method,
        "seed": context.config.seed,
        "samples": context.config.size,
        "alpha": alpha,
        **(witnessed or {}),
    }
    return ClaimResult(
        id=f"{context.subject} #{number}",
        statement=statement(claim),
        source=claim.source,
        status=status,
        claimed={"epsilon": claim.epsilon, "delta": claim.delta},
        lower_bound=lower_bound,
        exact=exact,
        confidence=None if exact is not None else context.config.confidence,
        method=method,
        event=shown,
        pair={key: value for key, value in pair.items() if key != "base"},
        samples=samples,
        detectable_epsilon=detectable_epsilon,
        witness=witness,
        inference=inference or {},
        detail=detail,
    )


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
    return ClaimResult(
        id=f"{context.subject} #{number}",
        statement=statement(claim),
        source=claim.source,
        status=status,
        claimed={"epsilon": claim.epsilon, "delta": claim.delta},
        method=why,
        samples=samples or {},
    )


def _vocabulary(context: AuditContext, candidate: CandidatePair) -> Vocabulary:
    """Return the words for what is observed: no word of searches for what is none."""
    wording = getattr(context.mechanism, "wording", {})
    if candidate.pair is None:
        return Vocabulary(**wording)
    return Vocabulary(**{"name": candidate.pair.network.name, "done": "found", **wording})


def statement(claim: PrivacyClaim) -> str:
    """Say what is claimed, as in the field."""
    if claim.delta == 0:
        return f"{claim.epsilon:.6g}-protected DP"
    return f"({claim.epsilon:.6g}, {claim.delta:.3g})-protected DP"


Name = Callable[[int], str]

#: A network with more edges is kept out of a witness; it names the file instead.
INLINE_EDGES = 50_000


def pair_words(pair: NeighborPair, to: Side) -> str:
    """Say what is rewired, towards the side named."""
    name = pair.network.name
    sides = [_listed(pair.left_neighbours), _listed(pair.right_neighbours)]
    before, after = sides if to == "right" else reversed(sides)
    return (
        f"rewiring {name(pair.vertex)} from {list_names(map(name, before))} "
        f"to {list_names(map(name, after))}"
    )


def pair_json(pair: NeighborPair, to: Side, file: dict[str, Any] | None) -> dict[str, Any]:
    """Return the JSON form of a pair.

    Its words lead to the side ``to``; ``file`` says how to read a network too large to inline.
    """
    name = pair.network.name
    left, right = set(_listed(pair.left_neighbours)), set(_listed(pair.right_neighbours))
    before, after = (left, right) if to == "right" else (right, left)
    return {
        "network": pair.network.title,
        "family": pair.family,
        "vertex": pair.vertex,
        "vertex_name": name(pair.vertex),
        "left": sorted(left),
        "right": sorted(right),
        "lost": [name(v) for v in sorted(before - after)],
        "gained": [name(v) for v in sorted(after - before)],
        "words": pair_words(pair, to),
        "base": network_json(pair.network, pair.vertex, file),
    }


def network_json(network: Network, without: int, file: dict[str, Any] | None) -> dict[str, Any]:
    """Return the network in which ``without`` has no edges, whole or by reference."""
    body: dict[str, Any] = {
        "n": network.n,
        "seeds": list(network.seeds),
        "max_degree": network.max_degree,
    }
    if network.edges > INLINE_EDGES and file is not None:
        return {**body, "file": file}
    coo = network.adjacency.tocoo()
    kept = (coo.row < coo.col) & (coo.row != without) & (coo.col != without)
    return {
        **body,
        "targeted": np.flatnonzero(network.targeted).tolist(),
        "edges": np.column_stack([coo.row[kept], coo.col[kept]]).tolist(),
        "names": None if network.names is None else list(network.names),
    }


def _listed(vertices: Any) -> list[int]:
    return [int(v) for v in np.sort(np.asarray(vertices))]
