"""What samples show: lower bounds on ε, their power, and one error budget."""

from .betting import Betting
from .bounds import METHODS, clopper_pearson, lower_bound
from .error_budget import ErrorBudget
from .exact_test import rejects
from .power import detectable

__all__ = [
    "METHODS",
    "Betting",
    "ErrorBudget",
    "clopper_pearson",
    "detectable",
    "lower_bound",
    "rejects",
]
