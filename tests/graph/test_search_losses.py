"""Searches under other relations, by brute force: definitions, and every pair looked at."""

from __future__ import annotations

import itertools
import math
from functools import cache

import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from pdpaudit.algorithms.graph.small_graphs import (
    LIMIT,
    PEOPLE,
    RELATIONS,
    SEARCHED,
    Sizes,
    search_losses,
)

DEGREE = PEOPLE - 1
IMPACT = 2 * DEGREE + 1
BY_NAME = {one.name: one for one in SEARCHED}


def _neighbours(ties, v):
    return {a + b - v for a, b in ties if v in (a, b)}


def _first(ties, targets):
    """Return whom statistic-first search finds from 0, and whom it has examined."""
    found, examined = [0], {0}
    while True:
        near = {v for one in found for v in _neighbours(ties, one)} - examined
        if not near:
            return found, examined
        best = min(near, key=lambda v: (-len(_neighbours(ties, v) & set(found)), v))
        examined.add(best)
        if best <= targets:
            found.append(best)


def _score(ties, v, found):
    return len(_neighbours(ties, v) & set().union(*(_neighbours(ties, s) for s in found)))


@cache
def _round(targets, protected, scale, limit, limit_scale, stop):
    """Return the probabilities that each target is found, by quadrature over its noisy score."""

    def density(x, i):
        others = math.prod(laplace.cdf(x - b, scale=scale) for b in targets[:i] + targets[i + 1 :])
        return laplace.pdf(x - targets[i], scale=scale) * others * passed(x)

    def passed(x):
        if stop is not None:
            return laplace.cdf(x - stop, scale=scale)
        if limit is None:
            return 1.0
        above = [laplace.sf(x - c, scale=scale) for c in protected]
        total = 0.0
        for inside in itertools.product((0, 1), repeat=len(above)):
            chance = math.prod(p if one else 1 - p for p, one in zip(above, inside, strict=True))
            total += chance * laplace.sf(sum(inside) - limit, scale=limit_scale)
        return total

    kinks = sorted({*targets, *protected, *([] if stop is None else [stop])})
    ends = [-math.inf, *kinks, math.inf]
    return [
        sum(quad(density, a, b, args=(i,), epsabs=1e-12)[0] for a, b in itertools.pairwise(ends))
        for i in range(len(targets))
    ]


def _law(name, people, ties, targets):
    alone = name in ("SearchCom", "Recommended")
    found, examined = ([0], {0}) if alone else _first(ties, targets)
    if name == "SFS":
        return {tuple(found): 1.0}
    left = [t for t in range(1, targets + 1) if t not in found]
    open_ = [p for p in range(targets + 1, people) if p not in examined]
    scores, theirs = (tuple(_score(ties, v, found) for v in part) for part in (left, open_))
    if name == "Recommended":
        weights = {t: math.exp(score / 2) for t, score in zip(left, scores, strict=True)}
        return {(0, t): weight / sum(weights.values()) for t, weight in weights.items()}
    scale = {"SearchCom": 4, "PTarget": 4, "PTarget:main-text": 1, "PTarget:repaired": 2}[name]
    limit = LIMIT if scale == 4 else None
    order = {"targets": scores, "protected": tuple(sorted(theirs)) if scale == 4 else ()}
    rule = {"scale": scale, "limit": limit, "limit_scale": 2 * IMPACT}
    chances = _round(**order, **rule, stop=0 if scale == 2 else None)
    law = {}
    for target, chance in zip(left, chances, strict=True):
        more = [target]
        if name != "SearchCom":
            more = _component(ties, target, targets, examined)
        law[tuple(more if name == "SearchCom" else [*found, *more])] = chance
    none = 1 - sum(chances)
    if none > 1e-9:
        law[() if name == "SearchCom" else tuple(found)] = none
    return law


def _component(ties, start, targets, examined):
    found, asked = [start], {*examined, start}
    while near := {v for one in found for v in _neighbours(ties, one)} - asked:
        best = min(near, key=lambda v: (-len(_neighbours(ties, v) & set(found)), v))
        asked.add(best)
        if best <= targets:
            found.append(best)
    return found


def _loss(left, right):
    if left.keys() != right.keys():
        return math.inf
    return max(abs(math.log(left[one] / right[one])) for one in left)


def _graphs(people):
    places = list(itertools.combinations(range(people), 2))
    return [
        frozenset(some)
        for k in range(len(places) + 1)
        for some in itertools.combinations(places, k)
    ]


def _without(ties, gone):
    return frozenset((a - (a > gone), b - (b > gone)) for a, b in ties if gone not in (a, b))


def _by_brute_force(name, people):
    worst = dict.fromkeys(RELATIONS, 0.0)
    for targets in range(1, people):
        laws = {g: _law(name, people, g, targets) for g in _graphs(people)}
        fewer = {g: _law(name, people - 1, g, targets) for g in _graphs(people - 1)}
        for one, other in itertools.combinations(laws, 2):
            loss, changed = _loss(laws[one], laws[other]), one ^ other
            shared = set.intersection(*map(set, changed))
            held = {
                "protected": any(v > targets for v in shared),
                "protected tie": len(changed) == 1 and max(shared) > targets,
                "tie": len(changed) == 1,
                "contacts": bool(shared),
            }
            for relation in (key for key, holds in held.items() if holds):
                worst[relation] = max(worst[relation], loss)
        for graph, gone in itertools.product(laws, range(targets + 1, people)):
            loss = _loss(laws[graph], fewer[_without(graph, gone)])
            worst["protected person"] = max(worst["protected person"], loss)
    return worst


@pytest.mark.parametrize("people", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BY_NAME)
def test_losses_are_those_of_the_definitions_on_every_pair(name, people):
    found = search_losses(BY_NAME[name].search, people)
    assert found == pytest.approx(_by_brute_force(name, people), abs=1e-7)


@pytest.mark.parametrize("name", BY_NAME)
def test_no_network_loses_more_than_is_proved(name):
    """On 4 people; at most 3 targets are left, and as many move."""
    one = BY_NAME[name]
    for relation, loss in search_losses(one.search, 4).items():
        most = max(one.most[relation].of(Sizes(DEGREE, IMPACT, 3, moved)) for moved in range(4))
        assert loss <= most + 1e-9
        assert math.isinf(loss) == math.isinf(most)
