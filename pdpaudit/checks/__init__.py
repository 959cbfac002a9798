"""Does a statistic do what it declares? Checks by name, what they rest on, and counterexamples."""

from pdpaudit.checks.enumeration import Exhaustion, Row, enumerate_labelled, exhaust
from pdpaudit.checks.evaluation import require_statistic
from pdpaudit.checks.examination import Options
from pdpaudit.checks.suite import NamedCheck, check_names, check_sop, iter_checks
from pdpaudit.checks.witness import as_listing, as_python, read_witness
from pdpaudit.core.statistic import name_of

__all__ = [
    "Exhaustion",
    "NamedCheck",
    "Options",
    "Row",
    "as_listing",
    "as_python",
    "check_names",
    "check_sop",
    "enumerate_labelled",
    "exhaust",
    "iter_checks",
    "name_of",
    "read_witness",
    "require_statistic",
]
