"""Fixtures shared by all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

# Machines are shared and noisy: an example that is slow once is no failure.
settings.register_profile("pdpaudit", deadline=None)
settings.load_profile("pdpaudit")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real networks, or skip where it is absent."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real networks of ../shared/data are not here")
    return folder
