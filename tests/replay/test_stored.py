"""Stores and baselines are read as data, and what is damaged is refused in a line."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law
from pdpaudit.core.subject import Subject
from pdpaudit.sampling.store import Store, decode
from pdpaudit.testing.baseline import measure_growth, read_baseline


class Coin:
    def pairs(self) -> list[tuple[float, float]]:
        return [(0.5, 0.25)]

    def law(self, p: float) -> Law:
        return Law({True: p, False: 1 - p})

    def run(self, p: float, rng: Any) -> bool:
        return bool(rng.random() < p)


ENTRY: dict[str, Any] = {
    "claim": "1-DP",
    "delta": 0.0,
    "exact": False,
    "counts": [50, 100, 25, 100],
    "loss": 0.693147181,
    "event": {"feature": "output", "values": [True], "side": "left", "prefix": 0},
    "pair": {"words": "pair 1", "number": 1},
}


def grown(entry: Any) -> Any:
    how: dict[str, Any] = {"seed": 1, "key": ("k",), "size": 50, "alpha": 0.05, "tolerance": 0.0}
    return measure_growth(entry, Subject.of(Coin()), **how, recorded_in=Path("losses.json"))


def test_an_honest_entry_is_measured() -> None:
    assert grown(ENTRY).then == ENTRY["loss"]


@pytest.mark.parametrize("key", [key for key in ENTRY if key != "claim"])
@pytest.mark.parametrize("wrong", ["nan", "x", -1, [], {"a": 1}, None, 10**400, 0.5], ids=repr)
def test_an_entry_that_was_tampered_with_is_refused(key: str, wrong: Any) -> None:
    if (key, wrong) == ("exact", None):
        return
    with pytest.raises(InputError, match="record it anew"):
        grown({**ENTRY, key: wrong})


def test_a_loss_that_is_no_number_is_refused() -> None:
    """No loss grows beyond it."""
    with pytest.raises(InputError, match="record it anew"):
        grown({**ENTRY, "exact": True, "loss": "nan"})


def test_a_pipe_is_no_baseline_and_no_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is no file"):
        read_baseline(tmp_path / "pipe")
    with pytest.raises(InputError, match="is no file"):
        Store(tmp_path / "pipe", {"seed": "1"})


@pytest.mark.parametrize(
    "more", ["VIEW v AS SELECT 1", "TRIGGER t INSERT ON chunks BEGIN SELECT 1; END"]
)
def test_a_store_that_holds_more_than_tables_is_refused(more: str, tmp_path: Path) -> None:
    Store(tmp_path / "kept.db", {"seed": "1"}).__exit__(None, None, None)
    base = sqlite3.connect(tmp_path / "kept.db")
    base.execute(f"CREATE {more}")
    base.commit()
    base.close()
    with pytest.raises(InputError, match="is damaged"):
        Store(tmp_path / "kept.db", {"seed": "1"})


@pytest.mark.parametrize(
    "written",
    [
        b"[" * 100_000,
        b'{"float":"0x1p99999"}',
        b'{"array":["O",[1],""]}',
        b'{"__import__":"os"}',
        b"{}",
        zlib.compress(json.dumps([1]).encode())[:-3],
    ],
    ids=["deep", "huge", "objects", "a name", "empty", "cut off"],
)
def test_bytes_that_were_not_written_by_us_are_refused(written: bytes) -> None:
    with pytest.raises(ValueError, match="not written by encode"):
        decode(written)
