"""What every audit of claims adds, whatever the claims: computed once."""

from collections.abc import Iterator
from functools import cache

import pytest

from pdpaudit.auditing import published_claims


@pytest.fixture(autouse=True, scope="session")
def composed_once() -> Iterator[None]:
    """Compute the tables of composition, which depend on nothing, once in all."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("composition_rows", "paper_form_region"):
            patch.setattr(published_claims, name, cache(getattr(published_claims, name)))
        yield
