"""The true privacy loss of a mechanism over its own pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import Law

from .pairs import Queries, VectorPair

__all__ = ["TrueLoss", "loss_of_laws"]


@dataclass(frozen=True)
class TrueLoss:
    """The largest privacy loss over a mechanism's pairs, both directions."""

    epsilon: float
    pair: str
    event: str


class _Lawful(Protocol):
    def pairs(self) -> tuple[VectorPair, ...]: ...

    def law(self, instance: Queries) -> Law: ...


def loss_of_laws(mechanism: _Lawful) -> TrueLoss:
    """Return the largest loss over the pairs of a mechanism with exact laws."""
    losses = [
        (exact_loss(mechanism.law(pair.left), mechanism.law(pair.right)), pair.name)
        for pair in mechanism.pairs()
    ]
    worst, name = max(losses, key=lambda item: item[0].epsilon)
    outputs = sorted(worst.event, key=repr)
    more = f" and {len(outputs) - 1} more" if len(outputs) > 1 else ""
    return TrueLoss(worst.epsilon, name, f"output {outputs[0]}{more}, likelier on the {worst.side}")
