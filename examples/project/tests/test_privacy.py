"""The privacy gate of the project."""

from __future__ import annotations

from positives import Positives

from pdpaudit import assert_private


def test_positives_are_private() -> None:
    assert_private(Positives())
