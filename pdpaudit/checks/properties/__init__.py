"""The checks, one property a file; the order is the order in which they run."""

from pdpaudit.checks.check import Check
from pdpaudit.checks.properties.bounds import IMPACT_CARDINALITY, TARGETED_SENSITIVITY
from pdpaudit.checks.properties.deterministic import DETERMINISTIC
from pdpaudit.checks.properties.fast_path import FAST_PATH
from pdpaudit.checks.properties.finite import FINITE
from pdpaudit.checks.properties.global_random_state import GLOBAL_RANDOM_STATE
from pdpaudit.checks.properties.graph_unchanged import GRAPH_UNCHANGED
from pdpaudit.checks.properties.label_independent import LABEL_INDEPENDENT
from pdpaudit.checks.properties.order_independent import ORDER_INDEPENDENT
from pdpaudit.checks.properties.own_network import OWN_NETWORK
from pdpaudit.checks.properties.tightness import TIGHTNESS

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
