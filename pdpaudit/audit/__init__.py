"""The course of an audit, from a mechanism to verdicts with witnesses."""

from pdpaudit.audit.arms import grounds, promised
from pdpaudit.audit.course import audit, claims_of
from pdpaudit.audit.exact import EXACT_SLACK
from pdpaudit.audit.plan import Plan, Watcher
from pdpaudit.audit.sampled import verdict

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
