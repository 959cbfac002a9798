"""The course of an audit, from a mechanism to verdicts with witnesses."""

from pdpaudit.auditing.arms import benchmark_networks, promised
from pdpaudit.auditing.course import audit
from pdpaudit.auditing.exact import EXACT_SLACK
from pdpaudit.auditing.plan import Plan, Watcher
from pdpaudit.auditing.sampled import verdict

__all__ = [
    "EXACT_SLACK",
    "Plan",
    "Watcher",
    "audit",
    "benchmark_networks",
    "promised",
    "verdict",
]
