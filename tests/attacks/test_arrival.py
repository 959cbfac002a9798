"""Nothing depends on the order in which outputs came."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.attacks.events import choose_event
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Draws, gathered
from pdpaudit.sampling import draw, engine, hits

#: Outputs with many ties: few values, alike on both sides.
OUTPUTS = st.lists(
    st.one_of(
        st.integers(0, 3),
        st.sampled_from(["a", "b"]),
        st.none(),
        st.tuples(st.integers(0, 2), st.sampled_from(["x", None, True])),
        st.lists(st.integers(0, 4), max_size=3).map(tuple),
    ),
    min_size=4,
    max_size=40,
)


def _shuffled(draws: Draws, rng: random.Random) -> Draws:
    records = list(draws.counts.items())
    rng.shuffle(records)
    structures = list(draws.arrays.items())
    rng.shuffle(structures)
    return Draws(Counter(dict(records)), dict(structures))


@given(halves=st.lists(OUTPUTS, min_size=4, max_size=4), seed=st.integers(0, 2**32))
def test_the_choice_of_an_event_does_not_depend_on_arrival(halves: Any, seed: int) -> None:
    drawn = [gathered(half, len(half)) for half in halves]
    rng = random.Random(seed)
    again = [_shuffled(half, rng) for half in drawn]
    aim = ExpectedBound(1000, 0.05)
    once, twice = (
        choose_event((one[0], one[1]), (one[2], one[3]), aim, thorough=False)
        for one in (drawn, again)
    )
    assert once == twice


class Mixed:
    """Numbers, texts and tuples, drawn one by one or at once."""

    def run(self, instance: None, rng: np.random.Generator) -> Any:
        kind = rng.integers(3)
        return rng.random() if kind == 0 else ("a" if kind == 1 else (int(rng.integers(5)), None))


class Batched(Mixed):
    def sample(self, instance: None, size: int, rng: np.random.Generator) -> Any:
        return rng.random((size, 2))


@pytest.mark.parametrize("mechanism", [Mixed(), Batched()], ids=["single", "batched"])
def test_chunks_that_come_in_another_order_give_the_same(
    mechanism: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BATCHED_CHUNK", 500)
    monkeypatch.setattr(engine, "BATCH", 1)
    straight = draw(mechanism, None, 3000, seed=1, key=("arrival",))
    chunks = engine.chunks

    def reversed_order(*arguments: Any) -> Any:
        yield from reversed(list(chunks(*arguments)))

    monkeypatch.setattr(engine, "chunks", reversed_order)
    turned = draw(mechanism, None, 3000, seed=1, key=("arrival",))
    assert straight.same_as(turned)
    assert list(straight.arrays) == list(turned.arrays)
    counted = hits(mechanism, None, 3000, _All(), seed=1, key=("arrival",))
    assert counted.runs == counted.inside == 3000


class _All:
    def count(self, draws: Draws) -> int:
        return len(draws)
