"""Whether a run raised is known from what it did, never from what it returned."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import PrivacyClaim, audit
from pdpaudit.outputs import failure, flatten, is_failure

WORDS = ["error rate 1", "error ", "raises ValueError", "InputError: no"]
TEXTS = st.text() | st.sampled_from(WORDS)


class Returning:
    """Return the same text always."""

    claim = PrivacyClaim(1.0)

    def __init__(self, text: str) -> None:
        self.text = text

    def run(self, instance: Any, rng: np.random.Generator) -> Any:
        return self.text

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]


@given(TEXTS, st.sampled_from([str, lambda text: (text,), lambda text: {text: text}]))
def test_no_text_that_is_returned_is_a_failure(text: str, wrapped: Any) -> None:
    assert not is_failure(flatten(wrapped(text)))
    assert flatten(wrapped(text)) != failure(ValueError(text))


@given(TEXTS)
def test_no_class_whatever_its_name_is_a_failure(name: str) -> None:
    enumeration: Any = enum.Enum
    kind = enumeration(name.replace("\0", "") or "x", {"member": 1})
    assert not is_failure(flatten(kind.member))


@given(TEXTS)
def test_whatever_a_run_raises_is_a_failure(text: str) -> None:
    assert is_failure(failure(ValueError(text)))


@pytest.mark.parametrize("text", WORDS)
def test_a_mechanism_that_returns_words_of_failure_is_judged_by_them(text: str) -> None:
    result = audit(Returning(text), samples=200, seed=1)
    assert result.status != "error"
    assert result.lower_bound == 0.0
