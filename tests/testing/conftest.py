"""A small project that is not ours, and a mechanism whose true loss is known.

Loaded here once: pytester gives every inner session the modules of this process back, and takes
out afterwards what came in with it, of which the report's cached templates still know.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import jinja2  # noqa: F401
import pytest

import pdpaudit.algorithms.statistics
import pdpaudit.attacks.events
import pdpaudit.testing.assertion
import pdpaudit.testing.summary  # noqa: F401

#: Randomised response on one bit: its loss is ``real``, whatever it claims.
MECHANISM = """
import os
import numpy as np
from pdpaudit.core.protocols import Law, PrivacyClaim

class Coin:
    def __init__(self, epsilon=1.0, real=None):
        self.epsilon, self.real = epsilon, real
        self.claim = PrivacyClaim(epsilon, source="its author")

    @property
    def truth(self):
        loss = float(os.environ.get("REAL_LOSS", self.epsilon if self.real is None else self.real))
        return np.exp(loss) / (1 + np.exp(loss))

    def pairs(self):
        return [("flip", 0, 1)]

    def run(self, instance, rng):
        return self.sample(instance, 1, rng)[0]

    def sample(self, instance, size, rng):
        honest = rng.random(size) < self.truth
        return [int(bit) for bit in np.where(honest, instance, 1 - instance)]

class ExactCoin(Coin):
    def law(self, instance):
        return Law({instance: self.truth, 1 - instance: 1 - self.truth})
"""

INI = "[pytest]\nfilterwarnings = default\n"

Project = Callable[..., pytest.Pytester]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a function that writes a test file beside the mechanism."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("REAL_LOSS", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(coins=MECHANISM)
    # Our own suite makes errors of warnings, theirs need not.
    pytester.makeini(INI)
    pytester.syspathinsert()

    def write(body: str, name: str = "test_it") -> pytest.Pytester:
        head = "import pytest\nfrom coins import Coin, ExactCoin\n"
        head += "from pdpaudit.testing import assert_private, assert_statistic\n"
        head += "from pdpaudit.testing import parametrize_with_checks\n"
        pytester.makepyfile(**{name: head + textwrap.dedent(body)})
        return pytester

    return write


def out(result: pytest.RunResult) -> str:
    return "\n".join(result.outlines)
