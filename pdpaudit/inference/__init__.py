"""What samples show: lower bounds on ε, their power, and one error budget."""

from .bounds import METHODS, ErrorBudget, clopper_pearson, lower_bound
from .exact_test import rejects
from .power import detectable
from .sequential import Betting

__all__ = [
    "METHODS",
    "Betting",
    "ErrorBudget",
    "clopper_pearson",
    "detectable",
    "lower_bound",
    "rejects",
]
