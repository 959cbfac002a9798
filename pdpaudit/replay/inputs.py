"""Build the two inputs of a witness again, and check that they are neighbours."""

from __future__ import annotations

from pdpaudit.auditing.candidate_pairs import CandidatePair, network_candidate, own_pairs
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import JSON
from pdpaudit.results.witnesses import PairWitness, ReadNetwork, whole

__all__ = ["ReadNetwork", "candidate_of"]


def candidate_of(pair: JSON, mechanism: object, seed: int, read: ReadNetwork) -> CandidatePair:
    """Build the inputs of a witness's pair: two networks, or those the mechanism brings."""
    if "base" in pair:
        return network_candidate(PairWitness.from_json(pair).build(seed, read))
    own, number = own_pairs(Subject.of(mechanism)), whole(pair["number"])
    if not 1 <= number <= len(own):
        raise ValueError(f"the mechanism has {len(own)} pairs, none of number {number}")
    return own[number - 1]
