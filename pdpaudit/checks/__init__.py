"""Does a statistic do what it declares? Checks by name, what they rest on, and counterexamples."""

from pdpaudit.checks.enumeration import Exhaustion as Exhaustion
from pdpaudit.checks.enumeration import Row as Row
from pdpaudit.checks.enumeration import enumerate_labelled as enumerate_labelled
from pdpaudit.checks.enumeration import exhaust as exhaust
from pdpaudit.checks.evaluation import require_statistic as require_statistic
from pdpaudit.checks.examination import Options as Options
from pdpaudit.checks.graphs import as_listing as as_listing
from pdpaudit.checks.graphs import as_python as as_python
from pdpaudit.checks.graphs import read_witness as read_witness
from pdpaudit.checks.suite import NamedCheck as NamedCheck
from pdpaudit.checks.suite import check_names as check_names
from pdpaudit.checks.suite import check_sop as check_sop
from pdpaudit.checks.suite import iter_checks as iter_checks
from pdpaudit.core.statistic import name_of as name_of
