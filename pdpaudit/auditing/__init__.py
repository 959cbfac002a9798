"""The course of an audit, from a mechanism to verdicts with witnesses."""

from pdpaudit.auditing.arms import grounds, promised
from pdpaudit.auditing.course import audit, claims_of
from pdpaudit.auditing.exact import EXACT_SLACK
from pdpaudit.auditing.plan import Plan, Watcher
from pdpaudit.auditing.sampled import verdict

__all__ = [
    "EXACT_SLACK",
    "Plan",
    "Watcher",
    "audit",
    "claims_of",
    "grounds",
    "promised",
    "verdict",
]
