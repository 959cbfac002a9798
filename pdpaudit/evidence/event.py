"""Events: what an attacker looks at in an output, and which values point to one side."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["FEATURES", "Event", "Side", "common_prefix", "count_inside", "simplest"]

Side = Literal["left", "right"]


def _whole(output: Hashable) -> Hashable:
    return output


def _first(output: Hashable) -> Hashable:
    return output[0] if isinstance(output, tuple) and output else None


def _last(output: Hashable) -> Hashable:
    return output[-1] if isinstance(output, tuple) and output else None


def _length(output: Hashable) -> Hashable:
    return len(output) if isinstance(output, tuple) else None


#: What may be looked at, the simplest first. Each sees a list without what all runs begin with.
FEATURES: dict[str, Callable[[Hashable], Hashable]] = {
    "first": _first,
    "last": _last,
    "length": _length,
    "output": _whole,
}


@dataclass(frozen=True)
class Event:
    """A set of outputs, described by the values of one feature.

    Attributes
    ----------
    feature : str
        A key of :data:`FEATURES`.
    values : frozenset
        The values of the feature that belong to the event.
    side : {"left", "right"}
        The network on which the event is more likely.
    prefix : int
        Number of leading entries of an output list that the feature does not see.

    Examples
    --------
    >>> event = Event("first", frozenset({4}), "left", prefix=2)
    >>> (0, 1, 4, 5) in event, (0, 1, 5, 4) in event, (0, 1) in event
    (True, False, False)
    """

    feature: str
    values: frozenset[Hashable]
    side: Side
    prefix: int = 0

    def __contains__(self, output: Hashable) -> bool:
        """Return whether an output belongs to the event."""
        seen = output[self.prefix :] if isinstance(output, tuple) else output
        return FEATURES[self.feature](seen) in self.values

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; values in a stable order."""
        return {
            "feature": self.feature,
            "values": sorted((_listed(value) for value in self.values), key=repr),
            "side": self.side,
            "prefix": self.prefix,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Event:
        """Return the event of a JSON form."""
        values = frozenset(_hashable(value) for value in body["values"])
        return cls(body["feature"], values, body["side"], int(body["prefix"]))


def simplest(outputs: Iterable[Hashable], inside: frozenset[Hashable], side: Side) -> Event:
    """Return the simplest description of a set of outputs among all that can occur.

    Parameters
    ----------
    outputs : iterable of hashable
        All outputs that can occur on either side.
    inside : frozenset
        Those that belong to the event.
    side : {"left", "right"}
        Where it is more likely.

    Examples
    --------
    >>> simplest([(0, 1), (0, 2), (0, 2, 3)], frozenset({(0, 2), (0, 2, 3)}), "left")
    Event(feature='first', values=frozenset({2}), side='left', prefix=1)
    """
    known = list(outputs)
    prefix = common_prefix(known)
    for feature, value_of in FEATURES.items():
        split: tuple[set[Hashable], set[Hashable]] = (set(), set())
        for output in known:
            seen = output[prefix:] if isinstance(output, tuple) else output
            split[output in inside].add(value_of(seen))
        if split[0].isdisjoint(split[1]):
            return Event(feature, frozenset(split[1]), side, prefix)
    raise AssertionError("the whole output tells outputs apart")


def common_prefix(outputs: Sequence[Hashable]) -> int:
    """Return how many leading entries all output lists share.

    Examples
    --------
    >>> common_prefix([(0, 1, 2), (0, 1), (0, 1, 3)]), common_prefix([1, 2])
    (2, 0)
    """
    lists = [output for output in outputs if isinstance(output, tuple)]
    if not lists or len(lists) < len(outputs):
        return 0
    shared = 0
    for entries in zip(*lists, strict=False):
        if any(entry != entries[0] for entry in entries):
            break
        shared += 1
    return shared


def count_inside(event: Event, counts: Mapping[Hashable, int]) -> int:
    """Return how many of the counted outputs belong to the event."""
    return sum(times for output, times in counts.items() if output in event)


def _listed(value: Hashable) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _hashable(value: Any) -> Hashable:
    return tuple(_hashable(item) for item in value) if isinstance(value, list) else value
