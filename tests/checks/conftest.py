"""Checks of small statistics: a behaviour that is wrong is wrong on graphs of three vertices."""

import pytest


@pytest.fixture(autouse=True)
def quick(few_graphs: None) -> None:
    """Look at few graphs in every test here."""
