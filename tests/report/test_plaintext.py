"""What is shown of texts that others gave."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.report.blocks import LONGEST_NAME, on_terminal

#: Names so long that they are cut, however they end.
ENDLESS = st.text(string.ascii_letters + "._-", min_size=2 * LONGEST_NAME, max_size=300).map(
    lambda name: f"{name}a"
)


@given(ENDLESS, st.sampled_from(["", ",", ".", ";", "'", "',", ")", ").", '":']), st.text(" ab"))
def test_what_follows_a_long_name_stays(name: str, end: str, after: str) -> None:
    shown = on_terminal(f"a '{name}{end} {after}")
    assert shown == f"a '{name[: LONGEST_NAME - 1]}… ({len(name) + 1} characters){end} {after}"
