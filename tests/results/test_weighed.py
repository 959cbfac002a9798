"""How nested events are weighed, in a witness."""

from __future__ import annotations

from typing import Any

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.inference.claim_bounds import Band
from pdpaudit.results.fields import Fields
from pdpaudit.results.witnesses import Weighed

WEIGHED = Weighed((0, 2), Band(2.0, (0.5, -0.25), (0.1, 0.2), 0.3, 1.5))


def read(body: object) -> Weighed:
    fields = Fields({"weighed": body}, "result.json", "claim 1")
    return fields.read("weighed", "how events are weighed", Weighed.from_json)


def test_it_is_read_as_it_was_written() -> None:
    assert read(WEIGHED.to_json()) == WEIGHED


@pytest.mark.parametrize(
    "change",
    [{"places": []}, {"places": [-1, 0]}, {"places": "ab"}, {"order": 1.0}, {"stakes": [-1, 0]}],
)
def test_what_is_damaged_is_refused_by_its_name(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="weighed"):
        read({**WEIGHED.to_json(), **change})
