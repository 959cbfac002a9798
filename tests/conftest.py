"""Fixtures shared by all tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pdpaudit.auditing import confirmation, event_selection, exact_search
from pdpaudit.checks import properties


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real networks, or skip where it is absent."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real networks of ../shared/data are not here")
    return folder


@pytest.fixture
def few_graphs(monkeypatch: pytest.MonkeyPatch, repetitions: Callable[[int, int], int]) -> None:
    """Check how a statistic behaves on all graphs up to 3 vertices; with --slow up to 4."""
    monkeypatch.setattr(properties, "SMALL", repetitions(3, properties.SMALL))


@pytest.fixture
def few_moves(monkeypatch: pytest.MonkeyPatch, repetitions: Callable[[int, int], int]) -> None:
    """Make the best pair worse by one round of local moves; with --slow by as many as always."""
    for module, name in (
        (exact_search, "STARTS"),
        (exact_search, "MOVES"),
        (event_selection, "MOVES"),
    ):
        monkeypatch.setattr(module, name, repetitions(1, getattr(module, name)))


@pytest.fixture
def without_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no power."""
    measure_no_power(monkeypatch)


def measure_no_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no power: it decides no violation, and takes most of the time of many audits."""
    for name in ("measured_power", "power_of_looks", "_power", "_power_in_unit"):
        monkeypatch.setattr(confirmation, name, lambda *_: 0.0)
    monkeypatch.setattr(confirmation, "planted_rates", lambda *_: ())
