"""Settings for all tests, those in docstrings included."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

# Machines are shared and noisy: an example that is slow once is no failure.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=30, **COMMON)
settings.register_profile("slow", **COMMON)

pytest_plugins = ["pytester"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let everything run that the default leaves out."""
    parser.addoption(
        "--slow", action="store_true", help="run slow tests too, and each with all its repetitions"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Generate more examples with --slow; before the tests are imported."""
    settings.load_profile("slow" if config.getoption("--slow") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is marked slow, unless asked for."""
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow") is not None:
                item.add_marker(pytest.mark.skip(reason="slow: needs --slow"))


@pytest.fixture(scope="session")
def repetitions(pytestconfig: pytest.Config) -> Callable[[int, int], int]:
    """Return what chooses between a number of repetitions by default and one with --slow."""
    slow = bool(pytestconfig.getoption("--slow"))
    return lambda default, thorough: thorough if slow else default
