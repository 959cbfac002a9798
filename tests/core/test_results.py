"""Results as JSON: what survives the journey, what is refused, and files whole or not at all."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import threading
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.results.files import FORMAT, load, save, write_text
from pdpaudit.results.measurements import ClaimEvent, Tried
from pdpaudit.results.pairs import OwnPair
from pdpaudit.results.results import (
    SEVERITY,
    CheckResult,
    ClaimResult,
    ExactFinding,
    Result,
    SampledFinding,
    exit_status,
    worst,
)


def claim(**changes) -> ClaimResult:
    body = {
        "id": "x #1",
        "statement": "1-protected DP",
        "source": "Theorem 1",
        "status": "violated",
        "promise": PrivacyClaim(1.0, source="Theorem 1"),
    }
    return ClaimResult(**{**body, **changes})


def result(**changes) -> Result:
    body = {"command": "audit", "subject": "x", "seed": 7, "elapsed_s": 1.23456}
    return Result(**{**body, **changes})


def test_a_result_comes_back_from_its_file_as_it_was_written(tmp_path):
    check = CheckResult(
        "sensitivity", "certified", declared=4, observed=np.float64(0.5), exact=True
    )
    whole = result(checks=(check,), claims=(claim(lower_bound=1.5),), tried=Tried(2, {"a": 2}))
    written = whole.to_json()
    save(tmp_path / "r.json", written)
    body = load(tmp_path / "r.json")
    assert body == written
    assert (body["format"], body["seed"], body["elapsed_s"]) == (FORMAT, 7, 1.235)
    assert body["status"] == "violated"
    assert body["claims"][0]["lower_bound"] == 1.5
    assert body["checks"][0]["observed"] == 0.5
    assert set(body["versions"]) == {"python", "pdpaudit", "numpy", "scipy", "networkx"}
    with pytest.raises(KeyError):
        result().to_json()["claims"]


@pytest.mark.parametrize("loss", [1.5, math.inf])
def test_a_finding_comes_back_as_what_it_was(loss):
    """Exact, sampled or not measured; an infinite loss is a string in JSON and a number again."""
    shared = claim(event=ClaimEvent("a"), pair=OwnPair("b"), samples={"discovery": 0}).__dict__
    kinds = (
        ExactFinding(**{**shared, "lower_bound": loss, "exact": loss}),
        SampledFinding(**{**shared, "lower_bound": 0.5, "confidence": 0.95}),
        ClaimResult(**{**shared, "status": "error", "method": "every run raised"}),
    )
    body = json.loads(json.dumps(result(claims=kinds).to_json()))
    again = Result.from_json(body, "r.json")
    assert again.claims == kinds
    assert [type(one) for one in again.claims] == [type(one) for one in kinds]
    assert [one.to_json() for one in again.claims] == body["claims"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def finite(value):
    """What JSON has of a value: the same, but for what is not a finite number."""
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return value


@settings(max_examples=settings().max_examples * 3 // 5, deadline=None)
@given(values)
def test_everything_plain_survives_and_only_non_finite_numbers_change(value):
    body = result(context={"value": value}).to_json()
    assert json.loads(json.dumps(body, allow_nan=False))["context"]["value"] == finite(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.float64("-inf"), "-inf"),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan]]), [[1.0, "nan"]]),
        ((1, (2, "a")), [1, [2, "a"]]),
        (frozenset({5}), [5]),
        ({3: np.int8(1)}, {"3": 1}),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_what_json_lacks_is_turned_into_what_it_has(value, expected):
    found = result(context={"value": value}).to_json()["context"]["value"]
    assert found == expected
    assert type(found) is type(expected)


def test_an_infinite_bound_is_written_as_a_string(tmp_path):
    save(tmp_path / "r.json", result(claims=(claim(exact=math.inf),)).to_json())
    assert load(tmp_path / "r.json")["claims"][0]["exact"] == "inf"


def test_sets_are_written_in_one_order():
    """Strings hash anew in each process; a result must not."""
    names = [f"person {i}" for i in range(50)]
    one = result(context={"who": frozenset(names)}).to_json()["context"]["who"]
    assert one == sorted(names)


def test_the_order_of_statuses():
    order = list(SEVERITY)
    assert order == ["violated", "error", "inconclusive", "not_rejected", "certified", "skipped"]
    for one, two in product(order, repeat=2):
        assert worst([one, two]) == order[min(order.index(one), order.index(two))]
    assert worst([]) == "skipped"
    checks = (CheckResult("a", "certified"), CheckResult("b", "inconclusive"))
    assert result(checks=checks).status == "inconclusive"
    assert result(checks=checks, claims=(claim(status="error"),)).status == "error"
    assert result().status == "skipped"


def test_exit_statuses():
    assert {status: exit_status(status) for status in SEVERITY} == {
        "violated": 1,
        "error": 2,
        "inconclusive": 0,
        "not_rejected": 0,
        "certified": 0,
        "skipped": 0,
    }


def only(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_is_replaced_whole_and_readable_like_any_other(tmp_path):
    path = tmp_path / "résumé.json"
    before = os.umask(0o027)
    try:
        write_text(path, "old")
        write_text(path, "neu: é\n")
    finally:
        os.umask(before)
    assert path.read_bytes() == "neu: é\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert only(tmp_path) == {"résumé.json"}


def test_a_disk_that_is_full_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    write_text(path, "old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pdpaudit.results.files.os.replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert only(tmp_path) == {"r.json"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interruption_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, error):
    path = tmp_path / "r.json"
    write_text(path, "old")

    def interrupted(*_):
        raise error

    monkeypatch.setattr("pdpaudit.results.files.os.replace", interrupted)
    with pytest.raises(error):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert only(tmp_path) == {"r.json"}


def test_text_that_cannot_be_encoded_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "r.json"
    write_text(path, "old")
    with pytest.raises(InputError, match="surrogate"):
        write_text(path, "name: \ud800")
    assert path.read_text() == "old"
    assert only(tmp_path) == {"r.json"}


def test_what_is_not_finite_is_never_written_as_a_bare_word(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        save(tmp_path / "r.json", {"format": FORMAT, "bound": math.nan})
    assert only(tmp_path) == set()


def test_a_folder_that_takes_no_file_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "r.json"):
        with pytest.raises(InputError) as caught:
            write_text(path, "text")
        assert str(caught.value).startswith(f"{path}: cannot be written")
        assert "choose another path" in str(caught.value)
    assert only(tmp_path) == set()
    assert only(tmp_path.parent) >= {tmp_path.name}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        write_text(tmp_path / "r.json", "text")


def test_a_pipe_or_device_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "whole\n")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(5)
    assert got == ["whole\n"]
    assert only(tmp_path) == {"pipe"}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "link.json", tmp_path / "real" / "r.json"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\x89PNG\r\n\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 5000, "not JSON"),
        (b"[]", FORMAT),
        (b"null", FORMAT),
        (b"{}", FORMAT),
        (b'{"format": "pdpaudit-result/2"}', FORMAT),
        (b'{"format": ["pdpaudit-result/1"]}', FORMAT),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path, content, words):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert words in message
    assert message.endswith("give the file of a result")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_result_that_another_program_saved_with_a_mark_is_read(tmp_path, encoding):
    path = tmp_path / "r.json"
    save(path, result(subject="Zoë").to_json())
    path.write_text(path.read_text("utf-8"), encoding)
    assert load(path)["subject"] == "Zoë"


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_result_that_cannot_be_opened_is_named(tmp_path, name):
    with pytest.raises(InputError, match=r"check the path|name a result file in it"):
        load(tmp_path / name)


def test_who_may_read_a_file_that_is_replaced_stays(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("before")
    path.chmod(0o600)
    write_text(path, "after")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("after", 0o600)


def test_links_in_a_circle_are_refused_or_replaced_in_a_line(tmp_path):
    path = tmp_path / "loop.json"
    path.symlink_to(path)
    with pytest.raises(InputError, match=r"loop.json: Too many levels of symbolic links"):
        load(path)
    write_text(path, "after")
    assert path.read_text() == "after"
