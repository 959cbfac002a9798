"""Statistics of proximity: the paper's four, and a catalogue of others in use."""

from .catalogue import (
    AdamicAdar,
    CommonNeighboursPerMember,
    InverseDistance,
    Jaccard,
    Katz3,
    PersonalisedPageRank,
    PreferentialAttachment,
    ResourceAllocation,
)
from .paper import CN, Flow, Path, Triangle

__all__ = [
    "CN",
    "AdamicAdar",
    "CommonNeighboursPerMember",
    "Flow",
    "InverseDistance",
    "Jaccard",
    "Katz3",
    "Path",
    "PersonalisedPageRank",
    "PreferentialAttachment",
    "ResourceAllocation",
    "Triangle",
]
