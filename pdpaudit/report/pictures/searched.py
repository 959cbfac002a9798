"""A part of a network, drawn once for each search: whom it examined, and whom it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pdpaudit.report.simulated import Drawing, DrawnSearch

__all__ = [
    "SearchedPicture",
    "SearchedSpot",
    "draw_searched",
    "drawn_ties",
    "spread_out",
    "ties_left_out",
    "what_it_did",
]

Point = tuple[float, float]

#: Width and height of the drawing.
SIZE = 400.0

#: Ties beyond these would be one grey heap.
MOST_TIES = 2500


@dataclass(frozen=True)
class SearchedSpot:
    """A vertex as drawn; ``kind`` is one of ``found``, ``examined`` and ``waiting``."""

    x: str
    y: str
    name: str
    targeted: bool
    kind: str


@dataclass(frozen=True)
class SearchedPicture:
    """A drawing of what one search did."""

    name: str
    ties: str
    found_ties: str
    spots: tuple[SearchedSpot, ...]
    examined: int
    found: int

    @property
    def told(self) -> str:
        """What the search did."""
        return what_it_did(self.examined, self.found)

    @property
    def words(self) -> str:
        """The drawing in a sentence."""
        return f"{self.name}: {self.told}"


def draw_searched(drawing: Drawing) -> tuple[SearchedPicture, ...]:
    """Return one drawing for each search, everybody in the same place; O(vertices + edges)."""
    places = [(SIZE * x, SIZE * (1 - y)) for x, y in spread_out(drawing.positions)]
    edges = drawn_ties(drawing)
    return tuple(_draw(drawing, places, edges, one) for one in drawing.searches)


def drawn_ties(drawing: Drawing) -> list[tuple[int, int]]:
    """Return the ties worth drawing: all of few; of many, those between targets and some others."""
    if len(drawing.edges) <= MOST_TIES:
        return list(drawing.edges)
    kept = [edge for edge in drawing.edges if all(drawing.targeted[end] for end in edge)]
    between = set(kept)
    others = [edge for edge in drawing.edges if edge not in between]
    tied = {end for edge in kept for end in edge}
    every = -(-len(others) // MOST_TIES)
    for place, edge in enumerate(others):
        if place % every == 0 or not tied.issuperset(edge):
            kept.append(edge)
            tied.update(edge)
    return kept


def ties_left_out(drawing: Drawing) -> str:
    """Say which ties are not drawn; nothing where all are."""
    drawn = len(drawn_ties(drawing))
    if drawn == len(drawing.edges):
        return ""
    return (
        f"Of {len(drawing.edges):,} ties {drawn:,} are drawn: all between targeted people, of the "
        "others evenly many."
    )


def _draw(
    drawing: Drawing,
    places: Sequence[Point],
    edges: Sequence[tuple[int, int]],
    search: DrawnSearch,
) -> SearchedPicture:
    ties: list[str] = []
    found_ties: list[str] = []
    for a, b in edges:
        (x1, y1), (x2, y2) = places[a], places[b]
        both = search.found[a] and search.found[b]
        (found_ties if both else ties).append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
    spots = []
    seen = 0
    told = zip(drawing.names, drawing.targeted, places, search.examined, search.found, strict=True)
    for name, targeted, (x, y), examined, found in told:
        met = examined or found
        seen += met and not targeted
        kind = "waiting" if not met else "found" if targeted else "examined"
        spots.append(SearchedSpot(f"{x:.1f}", f"{y:.1f}", name, targeted, kind))
    # Whom nobody looked at lies below, so that a crowd shows what was done.
    order = {"waiting": 0, "examined": 1, "found": 2}
    spots.sort(key=lambda spot: order[spot.kind])
    return SearchedPicture(
        search.name, "".join(ties), "".join(found_ties), tuple(spots), seen, sum(search.found)
    )


def what_it_did(examined: int, found: int) -> str:
    """Say how many protected people were examined, and how many targets found."""
    people = "person" if examined == 1 else "people"
    return f"{examined} protected {people} examined, {found} target{'s' * (found != 1)} found"


def spread_out(positions: Sequence[Point]) -> list[Point]:
    """Pull a crowd apart: halfway from where people are to where their rank puts them.

    Layouts by springs throw those without ties far out and leave the others in a heap. Left stays
    left and above stays above.
    """
    columns = []
    for values in zip(*positions, strict=True):
        shares = [0.0] * len(values)
        for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
            shares[place] = rank / max(1, len(values) - 1)
        pairs = zip(values, shares, strict=True)
        columns.append([round((value + share) / 2, 4) for value, share in pairs])
    return list(zip(*columns, strict=True)) if columns else []
