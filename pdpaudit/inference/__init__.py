"""Evidence from samples: lower bounds on ε, their power, and one error budget."""

from .betting import Betting
from .bounds import METHODS, clopper_pearson, katz, lower_bound, score
from .budget import ErrorBudget, holm, holm_bounds
from .exact import rejects
from .power import detectable

__all__ = [
    "METHODS",
    "Betting",
    "ErrorBudget",
    "clopper_pearson",
    "detectable",
    "holm",
    "holm_bounds",
    "katz",
    "lower_bound",
    "rejects",
    "score",
]
