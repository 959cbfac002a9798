"""Choose the event that gives the best evidence, from discovery samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from math import inf

import numpy as np
import numpy.typing as npt

from pdpaudit.evidence.aim import Aim
from pdpaudit.evidence.event import Event, Side, common_prefix, feature_of, features_for
from pdpaudit.evidence.regions import Range, View
from pdpaudit.rows import Rows, flag_rows, list_rows
from pdpaudit.sampling import Draws

from .sweeping import Choice, apart
from .vector_events import choose_regions

__all__ = ["Choice", "choose_event"]

Floats = npt.NDArray[np.float64]

#: Thresholds tried for one ordering of the values.
THRESHOLDS = 64

#: Vertices whose presence is looked at, and of whose order any two are.
MOST_VERTICES = 48
MOST_ORDERED = 12

#: Lists are scored by where vertices stand in them when they repeat less often than this.
REPEATS = 20

#: More outputs than this, if made of flags, are also scored flag by flag.
FEW_OUTPUTS = 24

#: Events kept beside the best, and cuts kept of one feature.
OTHERS, EACH = 14, 3

#: A less simple event must promise so much more.
WORTH = 0.002


@dataclass(frozen=True)
class _Finite:
    """The counted outputs: each one, and its counts in both halves of left and of right.

    With the runs behind both halves together, and behind the second alone.
    """

    outputs: list[Hashable]
    table: Floats
    runs: tuple[float, float]
    swept: tuple[int, int]
    aim: Aim
    prefix: int


def choose_event(
    left: tuple[Draws, Draws],
    right: tuple[Draws, Draws],
    aim: Aim,
    *,
    thorough: bool = True,
) -> Choice:
    """Return the event whose lower bound at the planned sample size looks largest, and others.

    Outputs that can be counted are ranked by likelihood ratio on one half of the discovery sample,
    smoothed, as a whole and by features, and the threshold is swept on the other half: ranking and
    sweeping on the same draws would favour values seen once by chance. For vectors of real values,
    and for lists too many to count, see :func:`pdpaudit.attacks.vector_events.choose_regions`.

    Parameters
    ----------
    left, right : pair of Draws
        The two halves of the discovery sample on each side.
    aim : Aim
        What will be confirmed.
    thorough : bool
        Whether to learn scores by regression too, which takes most of the time.

    Returns
    -------
    Choice
        With up to a dozen others. O(k log k) for k distinct outputs.

    Examples
    --------
    >>> ours, theirs = (Draws(Counter({(0, 1): n, (0, 2): 100 - n})) for n in (90, 10))
    >>> choice = choose_event((ours, ours), (theirs, theirs), Aim(100, 0.05))
    >>> choice.event.values, choice.event.side, choice.event.prefix
    (frozenset({1}), 'left', 1)
    """
    halves = (*left, *right)
    found: list[Choice] = []
    runs = (float(sum(map(len, left))), float(sum(map(len, right))))
    swept = (len(left[1]), len(right[1]))
    outputs = list(dict.fromkeys(output for half in halves for output in half.counts))
    if outputs:
        table = np.array([[half.counts[o] for o in outputs] for half in halves], dtype=np.float64)
        finite = _Finite(outputs, table, runs, swept, aim, common_prefix(outputs))
        found += _by_features(finite)
        found += _by_lists(finite, thorough)
        flags = flag_rows(outputs) if len(outputs) > FEW_OUTPUTS else None
        if flags is not None:
            found += _scored(finite, flags, None, thorough)
    if any(len(half.rows) for half in halves):
        rows = [half.rows for half in halves]
        found += choose_regions(
            (rows[0], rows[1]),
            (rows[2], rows[3]),
            swept,
            aim,
            thorough=thorough,
        )
    # Where nothing is counted and no entry ever was a number, there is nothing to choose.
    best = found[0] if found else Choice(Range("left", 1, None, View("entry"), -inf, inf), 0.0)
    for one in found[1:]:
        # The simple come first: a less simple event must promise clearly more.
        if one.expected > best.expected + WORTH * abs(best.expected):
            best = one
    others = sorted((one for one in found if one is not best), key=lambda one: -one.expected)
    return Choice(best.event, best.expected, tuple(others[:OTHERS]))


def _by_features(finite: _Finite) -> list[Choice]:
    """Rank the values of each feature and sweep."""
    trimmed = [o[finite.prefix :] if isinstance(o, tuple) else o for o in finite.outputs]
    features = features_for(trimmed)
    if any(isinstance(output, tuple) and len(output) > 2 for output in trimmed):
        features[1:1] = ["begins 2", "begins 3"]
    found: list[Choice] = []
    for feature in features:
        value_of = feature_of(feature)
        values = [value_of(output) for output in trimmed]
        distinct = list(dict.fromkeys(values))
        place = {value: i for i, value in enumerate(distinct)}
        codes = np.array([place[value] for value in values])
        table = np.array(
            [np.bincount(codes, weights=row, minlength=len(distinct)) for row in finite.table],
            dtype=np.float64,
        )
        for side in ("left", "right"):
            found += _sweep(finite, feature, distinct, table, side)
    return found


def _sweep(
    finite: _Finite, feature: str, distinct: list[Hashable], table: Floats, side: Side
) -> list[Choice]:
    """Return the best thresholds for one feature in one direction."""
    first, second = (0, 1) if side == "left" else (1, 0)
    ours, theirs = table[2 * first : 2 * first + 2], table[2 * second : 2 * second + 2]
    cuts = np.unique(np.linspace(1, len(distinct), THRESHOLDS).round().astype(int))
    # Each half is swept in the order that the other one gives, and both count.
    inside, inside_other = np.zeros(len(cuts)), np.zeros(len(cuts))
    for half in (0, 1):
        order = _order(ours[1 - half], theirs[1 - half])
        inside += np.cumsum(ours[half][order])[cuts - 1]
        inside_other += np.cumsum(theirs[half][order])[cuts - 1]
    expected = finite.aim.expected(inside, finite.runs[first], inside_other, finite.runs[second])
    order = _order(ours.sum(axis=0), theirs.sum(axis=0))
    return [
        Choice(
            Event(feature, frozenset(distinct[i] for i in order[:cut]), side, finite.prefix),
            float(expected[pick]),
        )
        for pick, cut in ((pick, cuts[pick]) for pick in apart(expected, inside, EACH))
    ]


def _order(ours: Floats, theirs: Floats) -> npt.NDArray[np.intp]:
    """Return the outcomes by likelihood ratio, smoothed, the largest first."""
    return np.argsort(-np.log((ours + 0.5) / (theirs + 0.5)), kind="stable")


def _by_lists(finite: _Finite, thorough: bool) -> list[Choice]:
    """Look at lists of vertices: who is in them, who stands before whom, and where all stand."""
    lists = [_is_list(output) for output in finite.outputs]
    if not any(lists) or not all(lists):
        return []
    times: Counter[int] = Counter()
    for output, row in zip(finite.outputs, finite.table.sum(axis=0).tolist(), strict=True):
        for vertex in output[finite.prefix :]:  # type: ignore[index]
            times[vertex] += int(row)
    total = int(finite.table.sum())
    # Who is always in the list tells nothing by being there, but may by where.
    vertices = sorted(vertex for vertex, _ in times.most_common(MOST_VERTICES))
    if len(vertices) < 2:
        return []
    places = list_rows([o[finite.prefix :] for o in finite.outputs], vertices)  # type: ignore[index]
    events, masks = list[tuple[str, Hashable]](), list[npt.NDArray[np.bool_]]()
    for column, vertex in enumerate(vertices):
        if times[vertex] < total:
            present = ~np.isnan(places[:, column])
            events += [(f"finds {vertex}", True), (f"finds {vertex}", False)]
            masks += [present, ~present]
    ordered = sorted(vertex for vertex, _ in times.most_common(MOST_ORDERED))
    filled = np.where(np.isnan(places), np.inf, places)
    for one, other in combinations(ordered, 2):
        first, second = filled[:, vertices.index(one)], filled[:, vertices.index(other)]
        events += [(f"order {one} {other}", one), (f"order {one} {other}", other)]
        masks += [first < second, second < first]
    found = _best_masks(finite, events, masks)
    repeats = total / len(finite.outputs)
    if repeats < REPEATS and len(vertices) > 2:
        rows = list_rows(finite.outputs, vertices)
        found += _scored(finite, rows, tuple(vertices), thorough)
    return found


def _best_masks(
    finite: _Finite,
    events: list[tuple[str, Hashable]],
    masks: list[npt.NDArray[np.bool_]],
) -> list[Choice]:
    halves = finite.table[0::2] + finite.table[1::2]
    inside = np.array(masks, dtype=np.float64) @ halves.T
    found: list[Choice] = []
    sides: tuple[tuple[Side, int, int], ...] = (("left", 0, 1), ("right", 1, 0))
    for side, ours, theirs in sides:
        expected = finite.aim.expected(
            inside[:, ours], finite.runs[ours], inside[:, theirs], finite.runs[theirs]
        )
        for pick in np.argsort(-expected, kind="stable")[:EACH].tolist():
            feature, value = events[pick]
            event = Event(feature, frozenset({value}), side, finite.prefix)
            found.append(Choice(event, float(expected[pick])))
    return found


def _scored(
    finite: _Finite, rows: Rows, vertices: tuple[int, ...] | None, thorough: bool
) -> list[Choice]:
    """Learn a score of the entries, or of where vertices stand."""
    parts = [np.repeat(rows, times.astype(np.int64), axis=0) for times in finite.table]
    return choose_regions(
        (parts[0], parts[1]),
        (parts[2], parts[3]),
        finite.swept,
        finite.aim,
        vertices,
        thorough=thorough,
    )


def _is_list(output: Hashable) -> bool:
    return isinstance(output, tuple) and all(type(entry) is int for entry in output)
