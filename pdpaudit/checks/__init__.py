"""Does a statistic do what it declares? Named checks, each in a file of its own."""

from pdpaudit.checks.door import name_of, require_statistic
from pdpaudit.checks.exhaustive import exhaust
from pdpaudit.checks.families import Exhaustion, Row
from pdpaudit.checks.labelled import enumerate_labelled
from pdpaudit.checks.options import Options
from pdpaudit.checks.pytest_helper import parametrize_with_checks
from pdpaudit.checks.replaying import replay_witness
from pdpaudit.checks.suite import NamedCheck, check_names, check_sop, iter_checks
from pdpaudit.checks.witness import Verification, as_listing, as_python, verify_witness

__all__ = [
    "Exhaustion",
    "NamedCheck",
    "Options",
    "Row",
    "Verification",
    "as_listing",
    "as_python",
    "check_names",
    "check_sop",
    "enumerate_labelled",
    "exhaust",
    "iter_checks",
    "name_of",
    "parametrize_with_checks",
    "replay_witness",
    "require_statistic",
    "verify_witness",
]
