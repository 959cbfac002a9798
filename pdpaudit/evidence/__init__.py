"""Evidence from samples: lower bounds on ε, their power, and one error budget."""

from .bounds import METHODS, clopper_pearson, katz, lower_bound, score
from .exact import exact
from .power import detectable

__all__ = ["METHODS", "clopper_pearson", "detectable", "exact", "katz", "lower_bound", "score"]
