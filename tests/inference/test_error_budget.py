"""One error budget, in even shares."""

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.inference import ErrorBudget


def test_shares_add_up():
    assert ErrorBudget(0.05, 7).share * 7 == pytest.approx(0.05)
    assert ErrorBudget(0.05).share == 0.05


def test_the_line_for_the_terminal():
    assert ErrorBudget(0.05).describe() == "false-positive rate at most 5%, on one confirmed bound"
    line = ErrorBudget(0.1, 3).describe()
    assert "10%" in line
    assert "3 confirmed" in line
    assert "3.333%" in line
    assert "\n" not in line


@pytest.mark.parametrize(("alpha", "confirmed"), [(0.0, 1), (1.0, 1), (0.05, 0), (0.05, 1.5)])
def test_impossible_budgets_are_refused(alpha, confirmed):
    with pytest.raises(InputError):
        ErrorBudget(alpha, confirmed)


def test_refusals_say_what_was_wrong():
    with pytest.raises(InputError, match=r"^alpha must lie strictly between 0 and 1, got 2"):
        ErrorBudget(2.0)
    with pytest.raises(InputError, match=r"^at least one thing must be confirmed, got 0"):
        ErrorBudget(0.05, 0)
