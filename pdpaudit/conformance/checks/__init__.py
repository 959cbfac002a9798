"""The checks, one property a file; the order is the order in which they run."""

from pdpaudit.conformance.check import Check
from pdpaudit.conformance.checks.bounds import IMPACT_CARDINALITY, TARGETED_SENSITIVITY
from pdpaudit.conformance.checks.deterministic import DETERMINISTIC
from pdpaudit.conformance.checks.fast_path import FAST_PATH
from pdpaudit.conformance.checks.finite import FINITE
from pdpaudit.conformance.checks.global_random_state import GLOBAL_RANDOM_STATE
from pdpaudit.conformance.checks.graph_unchanged import GRAPH_UNCHANGED
from pdpaudit.conformance.checks.label_independent import LABEL_INDEPENDENT
from pdpaudit.conformance.checks.order_independent import ORDER_INDEPENDENT
from pdpaudit.conformance.checks.own_network import OWN_NETWORK
from pdpaudit.conformance.checks.tightness import TIGHTNESS

__all__ = ["CHECKS"]

CHECKS: tuple[Check, ...] = (
    FINITE,
    DETERMINISTIC,
    GRAPH_UNCHANGED,
    GLOBAL_RANDOM_STATE,
    ORDER_INDEPENDENT,
    LABEL_INDEPENDENT,
    FAST_PATH,
    TARGETED_SENSITIVITY,
    IMPACT_CARDINALITY,
    TIGHTNESS,
    OWN_NETWORK,
)
