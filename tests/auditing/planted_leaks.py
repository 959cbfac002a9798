"""Twelve mechanisms that leak by one line each, which ends in a comment that says so."""

from __future__ import annotations

from typing import Any


class Branch:
    """Decides by a degree."""

    def run(self, instance: Any, rng: Any) -> Any:
        noise = rng.laplace()
        for vertex in (1, 2, 3):
            degree = instance.graph.degree(vertex)
            if degree > 2:  # LEAK
                return vertex, noise
        return 0, noise


class SortKey:
    """Ranks by a degree, without noise."""

    def run(self, instance: Any, rng: Any) -> Any:
        noise = {vertex: rng.laplace() for vertex in instance.graph}
        ranked = sorted(
            instance.graph,
            key=lambda vertex: (-instance.graph.degree(vertex), vertex),  # LEAK
        )
        return tuple(ranked[:2]), noise[0] > 0


class LoopCount:
    """Takes as many rounds as somebody has contacts."""

    def run(self, instance: Any, rng: Any) -> Any:
        total = 0.0
        for _ in instance.graph[3]:  # LEAK
            total += rng.laplace()
        return total


class EarlyReturn:
    """Ends where nothing is to be found."""

    def run(self, instance: Any, rng: Any) -> Any:
        found: list[int] = []
        for vertex in instance.graph:
            if not self.near(instance, vertex):  # LEAK
                return tuple(found)
            found.append(rng.random() < 0.5)
        return tuple(found)

    def near(self, instance: Any, vertex: int) -> int:
        near = 0
        for other in instance.graph[vertex]:
            near += other < 4
        return near


class Scale:
    """Scales its noise by what it hides."""

    def run(self, ages: Any, rng: Any) -> Any:
        total = sum(ages)
        spread = max(ages) - min(ages)
        noise = rng.laplace(scale=spread)  # LEAK
        return total + noise


class SkippedDraw:
    """Adds noise only where it thinks it is needed."""

    def run(self, ages: Any, rng: Any) -> Any:
        counts = [0, 0, 0, 0]
        for age in ages:
            counts[age // 25] += 1
        released = []
        for count in counts:
            noise = rng.laplace() if count > 2 else 0.0  # LEAK
            released.append(count + noise)
        return tuple(released)


class OracleCall:
    """Asks about everybody near a target, the protected too."""

    def run(self, instance: Any, rng: Any) -> Any:
        near = list(instance.graph[0])
        found: list[int] = []
        if rng.random() < 0.9:
            found.append(0)
        if instance.oracle(near[1]):  # LEAK
            found.append(near[1])
        return tuple(found)


class IterationOrder:
    """Lets the order of contacts decide."""

    def run(self, instance: Any, rng: Any) -> Any:
        for vertex in instance.graph[5]:  # LEAK
            if rng.random() < 0.9:
                return vertex
        return None


class Fails:
    """Divides by what may be 0."""

    def run(self, ages: Any, rng: Any) -> Any:
        old = sum(age > 60 for age in ages)
        noise = rng.laplace()
        share = 100 / old  # LEAK
        return share > 0, noise


class Remembered:
    """Uses noise again for a value it has met."""

    def run(self, ages: Any, rng: Any) -> Any:
        known: dict[int, float] = {}
        for age in ages:
            if age not in known:  # LEAK
                known[age] = age + rng.laplace(scale=10)
        return tuple(known.values())


class Clipping:
    """Clips where nobody is, so that one person counts for much."""

    def run(self, ages: Any, rng: Any) -> Any:
        total = 0
        for age in ages:
            clipped = min(age, 1000)  # LEAK
            total += clipped
        return total + rng.laplace(scale=1.0)


class TimeLimit:
    """Gives up after so much work."""

    def run(self, instance: Any, rng: Any) -> Any:
        spent, found = 0, []
        for vertex in (0, 1, 2, 3):
            spent += self.cost(instance, vertex)
            if spent > 8:  # LEAK
                raise TimeoutError
            found.append(rng.random() < 0.5)
        return tuple(found)

    def cost(self, instance: Any, vertex: int) -> int:
        steps = 0
        for _ in instance.graph[vertex]:
            steps += 1
        return steps


ON_NETWORKS = (Branch, SortKey, LoopCount, EarlyReturn, OracleCall, IterationOrder, TimeLimit)
ON_RECORDS = (Scale, SkippedDraw, Fails, Remembered, Clipping)
