"""The course of an audit, from a mechanism to verdicts with witnesses."""

from pdpaudit.auditing.candidate_pairs import benchmark_networks, within_degree_bound
from pdpaudit.auditing.config import Config, Watcher
from pdpaudit.auditing.confirmation import verdict
from pdpaudit.auditing.exact_verdict import EXACT_SLACK
from pdpaudit.auditing.pipeline import audit

__all__ = [
    "EXACT_SLACK",
    "Config",
    "Watcher",
    "audit",
    "benchmark_networks",
    "verdict",
    "within_degree_bound",
]
