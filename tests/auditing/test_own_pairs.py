"""What a mechanism's own pairs may look like: never taken for something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pdpaudit.auditing import Config, audit
from pdpaudit.auditing.candidate_pairs import candidate_pairs
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.replay.claims import candidate_of
from pdpaudit.results.pairs import OwnPair


class Constant:
    """Gives the same whatever it gets, so that only what it is given can be wrong."""

    claim = PrivacyClaim(1.0)

    def __init__(self, given: Any) -> None:
        self.given = given

    def pairs(self) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    def run(self, instance: Any, rng: np.random.Generator) -> int:
        return 1


@pytest.mark.parametrize(
    "given",
    [
        (np.array([0.0, 1.0]), np.array([0.0, 2.0])),
        [np.array([0.0, 1.0])],
        np.zeros((3, 2)),
        ["ab", "ac"],
        "ab",
        b"ab",
        (0, 1),
        ((0.0, 1.0), (0.0, 2.0)),
        [(0, 1, 2)],
        [("name", 0, 1, 2)],
        [(0,)],
        [{0, 1}],
        {0: 1},
        [{"left": 0, "right": 1}],
        [None],
        [],
        None,
        ValueError("no pairs today"),
    ],
)
def test_anything_else_is_refused_with_the_shape_expected(given: Any) -> None:
    with pytest.raises(
        InputError, match=r"give a list of pairs, each \(left, right\) or"
    ) as caught:
        audit(Constant(given), [], Config(seed=1, samples=100), subject="constant")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ([(0, 1)], ["pair 1 (0 → 1)"]),
        ([[0, 1], [1, 0]], ["pair 1 (0 → 1)", "pair 2 (1 → 0)"]),
        ([("ab", "ac")], ["pair 1 (ab → ac)"]),
        ([("near", 0, 1)], ["near"]),
        ((("near", 0, 1), ("far", 0, 9)), ["near", "far"]),
        (((0, 1), (1, 0), (0, 2)), ["pair 1 (0 → 1)", "pair 2 (1 → 0)", "pair 3 (0 → 2)"]),
        (((i, i + 1) for i in range(2)), ["pair 1 (0 → 1)", "pair 2 (1 → 2)"]),
        ([(np.zeros(2), np.ones(2))], ["pair 1 ((0.0, 0.0) → (1.0, 1.0))"]),
    ],
)
def test_pairs_are_what_they_look_like(given: Any, labels: list[str]) -> None:
    arms = candidate_pairs(Constant(given), [], 1)
    assert [arm.label for arm in arms] == labels
    assert all(len(arm.inputs()) == 2 for arm in arms)


def test_a_named_pair_says_what_differs_towards_either_side() -> None:
    """Graphs of our own have names that say it already."""
    [near] = candidate_pairs(Constant([("near", 0, 1)]), [], 1)
    assert (near.words("left"), near.words("right")) == ("near (1 → 0)", "near (0 → 1)")
    tie = ("a tie more", Graph(2, ()), Graph(2, ((0, 1),)))
    [named] = candidate_pairs(Constant([tie]), [], 1)
    assert named.words("left") == named.words("right") == "a tie more"


def test_a_witness_that_has_the_name_alone_is_the_same_pair() -> None:
    """As results written before have it; any other words are not those of the pair."""

    def read(body: object, seed: int) -> Network:
        raise AssertionError("there is no network to read")

    mechanism = Constant([("near", 0, 1), ("far", 0, 9)])
    again = candidate_of(OwnPair("far", 2), mechanism, 1, read)
    assert again.words("left") == again.words("right") == "far"
    other = candidate_of(OwnPair("near", 2), mechanism, 1, read)
    assert other.words("right") == "far (0 → 9)"
