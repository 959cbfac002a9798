"""Does a statistic do what it declares? Named checks, each in a file of its own."""

from pdpaudit.conformance.door import name_of, require_statistic
from pdpaudit.conformance.exhaustive import exhaust
from pdpaudit.conformance.families import Exhaustion, Row
from pdpaudit.conformance.labelled import enumerate_labelled
from pdpaudit.conformance.options import Options
from pdpaudit.conformance.pytest_helper import parametrize_with_checks
from pdpaudit.conformance.replaying import replay_witness
from pdpaudit.conformance.suite import NamedCheck, check_names, check_sop, iter_checks
from pdpaudit.conformance.witness import Verification, as_listing, as_python, verify_witness

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
