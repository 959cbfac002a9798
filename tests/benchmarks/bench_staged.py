"""How soon a plain Python class is judged: twelve mechanisms of about 1 ms a run.

Run with ``python -m pytest tests/benchmarks/bench_staged.py -s --slow``. Processor time, for other
work on the machine counts in wall time. Before there were stages, one that leaks grossly took 4 min
43 s, a sound one 9 min 24 s, and the first red test of the gate more than 5 min.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.auditing import Config, audit
from pdpaudit.auditing.candidate_pairs import networks_for
from pdpaudit.core.subject import Subject
from pdpaudit.results.results import ClaimResult

from .staged_mechanisms import BROKEN, SOUND

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

TEST = """
import resource
import pytest
from staged_mechanisms import NoisyCountTooLittleNoise
from pdpaudit.testing import assert_private

@pytest.mark.pdp_audit
def test_it():
    assert_private(NoisyCountTooLittleNoise)
"""


def judged(kind: Any) -> tuple[ClaimResult, float]:
    """Return the claim of a mechanism, audited by default, and seconds of processor time."""
    began, mechanism = time.process_time(), kind()
    networks = networks_for(Subject.of(mechanism), None)
    claim = audit(mechanism, networks, Config(1), subject=kind.__name__).claims[0]
    return claim, time.process_time() - began


def test_broken_ones_are_red_soon(figure: Any) -> None:
    spent = []
    for kind in BROKEN:
        claim, seconds = judged(kind)
        spent.append(seconds)
        figure(f"staged, {kind.__name__}", seconds, "s", limit=30)
        assert claim.status == "violated", kind.__name__
    figure("staged, broken, median", statistics.median(spent), "s", limit=10)
    assert max(spent) < 30
    assert statistics.median(spent) < 10


@pytest.mark.parametrize("kind", SOUND)
def test_sound_ones_are_let_go_near_their_claim(kind: Any, figure: Any) -> None:
    claim, seconds = judged(kind)
    figure(f"staged, {kind.__name__}", seconds, "s", limit=60)
    assert claim.status == "not_rejected"
    assert (claim.detectable_epsilon or 9) <= 1.5 * claim.promise.epsilon + 0.2 + 1e-9
    assert seconds < 60


def test_the_first_red_test_of_the_gate(tmp_path: Path, figure: Any) -> None:
    """Process start included; the children's processor time."""
    import resource

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    (tmp_path / "test_a.py").write_text(TEST)
    (tmp_path / "staged_mechanisms.py").write_text(
        Path(__file__).with_name("staged_mechanisms.py").read_text()
    )
    before = spent()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    figure("staged, first red test of the gate", spent() - before, "s", limit=15)
    assert ran.returncode == 1
    assert "is not private as claimed" in ran.stdout
    assert spent() - before < 15
