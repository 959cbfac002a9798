"""Twelve mechanisms as people bring them: plain Python, about 1 ms a run, no law and no batches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from pdpaudit.core.protocols import PrivacyClaim

#: Records of a database: what makes a run take about a millisecond.
RECORDS = 8_000

Records = tuple[int, ...]


def _pairs(value: int) -> Iterator[tuple[str, Records, Records]]:
    """Yield databases that differ in one record: another value, and one record less."""
    whole = tuple(i % 7 for i in range(RECORDS))
    yield "one changed", (value, *whole), (0, *whole)
    yield "one removed", (value, *whole), whole
    yield "last removed", (*whole, value), whole


class OnRecords:
    """A query on a database of small numbers; the one that differs has the value 9."""

    claim = PrivacyClaim(1.0, source="its author")

    def pairs(self) -> list[Any]:
        return list(_pairs(9))

    def _counts(self, records: Records) -> list[int]:
        counted = Counter(value for value in records)
        return [counted[value] for value in range(10)]


class NoisyCount(OnRecords):
    """A count with Laplace noise of scale ``1/ε``: loss 1."""

    scale = 1.0

    def run(self, records: Records, rng: np.random.Generator) -> float:
        return sum(value > 6 for value in records) + rng.laplace(scale=self.scale)


class NoisyCountTooLittleNoise(NoisyCount):
    """The same with half of the noise: loss 2."""

    scale = 0.5


class Histogram(OnRecords):
    """Counts of all values with discrete Laplace noise: loss 1 where a record is removed."""

    epsilon = 1.0

    def pairs(self) -> list[Any]:
        return list(_pairs(9))[1:]

    def run(self, records: Records, rng: np.random.Generator) -> tuple[int, ...]:
        stop = -math.expm1(-self.epsilon)
        return tuple(
            count + int(rng.geometric(stop)) - int(rng.geometric(stop))
            for count in self._counts(records)
        )


class HistogramWithoutEmpty(OnRecords):
    """Counts of the values that occur, by value: a value of one record only gives it away."""

    def run(self, records: Records, rng: np.random.Generator) -> dict[int, float]:
        counts = enumerate(self._counts(records))
        return {value: count + rng.laplace() for value, count in counts if count}


class NoisyMax(OnRecords):
    """The commonest value by counts with exponential noise: loss nearly 1."""

    scale = 2.0

    def pairs(self) -> list[Any]:
        even = tuple(i % 7 for i in range(RECORDS - RECORDS % 7))
        return [("one changed", (3, *even), (0, *even)), ("one removed", (3, *even), even)]

    def run(self, records: Records, rng: np.random.Generator) -> Any:
        counts = np.array(self._counts(records)) + rng.exponential(self.scale, 10)
        return int(counts.argmax())


class NoisyMaxShown(NoisyMax):
    """The noisy count itself: what lies below the true one never occurs."""

    def pairs(self) -> list[Any]:
        return [("one removed", (3,) * (RECORDS + 1), (3,) * RECORDS)]

    def run(self, records: Records, rng: np.random.Generator) -> float:
        return float((np.array(self._counts(records)) + rng.exponential(self.scale, 10)).max())


class RandomisedResponse(OnRecords):
    """The first record's parity, kept with odds e: loss 1. The rest of the work is for show."""

    odds = math.e

    def run(self, records: Records, rng: np.random.Generator) -> tuple[bool, int]:
        kept = rng.random() < self.odds / (1 + self.odds)
        return (records[0] % 2 == 1) == kept, sum(value == 2 for value in records) // RECORDS

    def pairs(self) -> list[Any]:
        return list(_pairs(9))[:1]


class RandomisedResponseTooSure(RandomisedResponse):
    """The same with odds e**2.5."""

    odds = math.exp(2.5)


class AboveThreshold(OnRecords):
    """Which of ten counts lie above a noisy threshold, until the first (Lyu, Su, Li 2017)."""

    query_noise, stops = 4.0, True

    def pairs(self) -> list[Any]:
        whole = tuple(i % 10 for i in range(RECORDS))
        return [(f"a {value} removed", (value, *whole), whole) for value in (0, 5, 9)]

    def run(self, records: Records, rng: np.random.Generator) -> tuple[bool, ...]:
        threshold = RECORDS / 10 + 0.5 + rng.laplace(scale=2.0)
        answers = []
        for count in self._counts(records):
            answers.append(bool(count + rng.laplace(scale=self.query_noise) >= threshold))
            if answers[-1] and self.stops:
                break
        return tuple(answers)


class AboveThresholdWithoutNoise(AboveThreshold):
    """The same without noise in the queries and without stopping: loss infinite."""

    query_noise, stops = 1e-9, False


class ClippedMean(OnRecords):
    """The mean of numbers that lie between 0 and 1, with Laplace noise: loss 1."""

    def pairs(self) -> list[Any]:
        whole = tuple(i % 2 for i in range(RECORDS))
        return [("largest for smallest", (1, *whole), (0, *whole))]

    def run(self, records: Records, rng: np.random.Generator) -> float:
        total = sum(value if value < 1 else 1 for value in records)
        return float(total + rng.laplace()) / len(records)


class SearchByDegree:
    """Looks at everybody with many contacts first, protected or not: certain on one side."""

    claim = PrivacyClaim(1.0, source="its author")

    def run(self, instance: Any, rng: np.random.Generator) -> Hashable:
        graph = instance.graph
        ranked = sorted(graph, key=lambda v: graph.degree(v) + rng.laplace(scale=0.05))
        return tuple(v for v in ranked[::-1][:20] if instance.oracle(v))


BROKEN = (
    NoisyCountTooLittleNoise,
    HistogramWithoutEmpty,
    NoisyMaxShown,
    RandomisedResponseTooSure,
    AboveThresholdWithoutNoise,
    SearchByDegree,
)
SOUND = (NoisyCount, Histogram, NoisyMax, RandomisedResponse, AboveThreshold, ClippedMean)
