"""Evidence from samples: lower bounds on ε, their power, and one error budget."""

from .betting import Betting, betting
from .bounds import METHODS, clopper_pearson, katz, lower_bound, score
from .budget import ErrorBudget, holm, holm_bounds
from .exact import exact, rejects
from .power import detectable

__all__ = [
    "METHODS",
    "Betting",
    "ErrorBudget",
    "betting",
    "clopper_pearson",
    "detectable",
    "exact",
    "holm",
    "holm_bounds",
    "katz",
    "lower_bound",
    "rejects",
    "score",
]
