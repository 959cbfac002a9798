"""Re-run the witness of a saved check: the statistic by its name, the verification by its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pdpaudit.checks.door import require_statistic
from pdpaudit.checks.witness import Verification, verify_witness
from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import Find, resolve

__all__ = ["replay_witness"]


def replay_witness(witness: Mapping[str, Any], find: Find = resolve) -> Verification:
    """Find the statistic a witness names, and verify it."""
    name = witness.get("specification")
    if not isinstance(name, str):
        raise InputError("the witness does not name its statistic; check again with --json")
    sop, _ = require_statistic(find("sops", name))
    return verify_witness(witness, sop)
