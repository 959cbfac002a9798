"""Re-run the witness of a saved check: the statistic by its name, the verification by its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pdpaudit.checks.door import require_statistic
from pdpaudit.checks.witness import Verification, verify_witness
from pdpaudit.core.errors import InputError
from pdpaudit.core.making import Find
from pdpaudit.core.registry import resolve

__all__ = ["replay_witness"]


def replay_witness(witness: Mapping[str, Any], find: Find = resolve) -> Verification:
    """Find the statistic a witness names, and verify it.

    Parameters
    ----------
    witness : mapping
        Of a check in a result file; ``specification`` says how the statistic was named.
    find : callable
        How it is looked up; for somebody else's file :func:`pdpaudit.replay.finder`, which imports
        nothing that is not registered unless it is trusted.

    Returns
    -------
    Verification
        Whether the violation shows again.

    Raises
    ------
    InputError
        If the statistic cannot be found, or it is not such a witness.

    Examples
    --------
    >>> replay_witness({"format": "pdpaudit-statistic-witness/1", "property": "impact-cardinality",
    ...     "statistic": "CN", "specification": "CN", "n": 3, "edges": [[0, 1]], "vertex": 2,
    ...     "left": [], "right": [1], "targets": [0], "max_degree": 2})
    Verification(reproduced=False, observed=1.0, detail='declared 5, found 1')
    """
    name = witness.get("specification")
    if not isinstance(name, str):
        raise InputError("the witness does not name its statistic; check again with --json")
    sop, _ = require_statistic(find("sops", name))
    return verify_witness(witness, sop)
