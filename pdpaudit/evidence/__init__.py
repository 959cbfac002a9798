"""Evidence from samples: lower bounds on ε, their power, and one error budget."""

from .bounds import METHODS, clopper_pearson, lower_bound
from .power import detectable

__all__ = ["METHODS", "clopper_pearson", "detectable", "lower_bound"]
