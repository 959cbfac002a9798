"""What the fields of a table mean: missing values, whole numbers in another form, times."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError

__all__ = ["is_missing", "times_of", "unify", "whole"]

_MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "none", "null", "-", "--", "<na>"])
_WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
_POWER = re.compile(r"\d+(\.\d+)?[eE]\+?\d{1,2}", re.ASCII)
_A_POWER = re.compile(rf"^{_POWER.pattern}$", re.ASCII | re.MULTILINE)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE]\+?\d{1,2})?", re.ASCII)


def is_missing(text: str) -> bool:
    """Whether a field stands for nobody and nothing."""
    return len(text) < 5 and text.strip().lower() in _MISSING


def whole(text: str) -> str:
    """Return ``2.0`` as ``2``, as a gap in a column of whole numbers makes of them."""
    found = _WHOLE.fullmatch(text) if text.endswith("0") else None
    return found[1] if found else text


def unify(names: Sequence[str]) -> tuple[list[str], int]:
    """Return names with whole numbers in one form, and how many had another.

    ``1e+05`` is a whole number only where all names are numbers: elsewhere it may be a code.
    """
    text = "\n".join(names)  # searched at once, for there may be a million
    dotted = ".0" in text
    if not dotted and not _A_POWER.search(text):
        return list(names), 0
    changed = [whole(name) for name in names] if dotted else list(names)
    if any(_POWER.fullmatch(name) for name in changed) and all(
        _NUMBER.fullmatch(name) or is_missing(name) for name in changed
    ):
        changed = [
            str(int(float(name))) if _POWER.fullmatch(name) and float(name).is_integer() else name
            for name in changed
        ]
    return changed, sum(one != other for one, other in zip(names, changed, strict=True))


def times_of(values: Sequence[str], place: str) -> npt.NDArray[np.float64]:
    """Return times as numbers: as they are, or dates as seconds; missing ones as NaN."""
    texts = pd.Series([None if is_missing(value) else value for value in values], dtype=object)
    numbers: npt.NDArray[np.float64] = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
    given = texts.notna().to_numpy()
    if not np.isnan(numbers[given]).any():
        return numbers
    dates = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
    wrong = given & dates.isna().to_numpy()
    if wrong.any():
        raise InputError(
            f"{place}: {values[int(np.flatnonzero(wrong)[0])]!r} is neither a number nor a date "
            "like 2020-03-01; correct it, or name another column with --time-column"
        )
    seconds = (dates - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(seconds=1)
    return np.asarray(seconds.to_numpy(np.float64))
