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
from .cn import CN
from .flow import Flow
from .path import Path
from .triangle import Triangle

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
