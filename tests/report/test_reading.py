"""What is not a result is refused in one line that names the file and the field."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import read_source, source_from_json
from pdpaudit.results.files import unchanged
from pdpaudit.results.results import Result

Saved = Callable[[dict[str, Any]], Path]


def test_a_result_is_read_as_it_is(audit_body: dict[str, Any], saved: Saved) -> None:
    source = read_source(saved(audit_body))
    claim = source.result.claims[2]
    assert source.name == "result.json"
    assert claim.detectable_epsilon == float("inf")
    assert (claim.promise.epsilon, claim.promise.delta) == (20.0, 0.0)
    assert source.result.status == "violated"


def test_who_ran_it_is_shown_and_is_no_part_of_what_was_found(audit_body: dict[str, Any]) -> None:
    body = Result("audit", "A", 1, 1.0).to_json()
    assert body["by"] == getpass.getuser()
    assert unchanged({**body, "by": "somebody else"})
    assert "| run by | Ada |" in render_markdown([source_from_json({**body, "by": "Ada"}, "a")])


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("seed",), "7", "seed"),
        (("seed",), True, "seed"),
        (("subject",), ["a"], "subject"),
        (("claims",), {"a": 1}, "claims"),
        (("claims",), [1], "claims"),
        (("context",), [1], "context"),
        (("elapsed_s",), "long", "elapsed_s"),
        (("claims", 0, "status"), "fine", "claims[0].status"),
        (("claims", 1, "claimed", "epsilon"), "abc", "claims[1].claimed.epsilon"),
        (("claims", 1, "claimed", "epsilon"), -1.0, "claims[1].claimed.epsilon"),
        (("claims", 1, "claimed", "delta"), 2.0, "claims[1].claimed.delta"),
        (("claims", 0, "confidence"), 1.5, "claims[0].confidence"),
        (("claims", 0, "lower_bound"), [1], "claims[0].lower_bound"),
        (("claims", 0, "event", "inside"), 30000, "claims[0].event.inside"),
        (("claims", 0, "event", "inside"), 1.5, "claims[0].event.inside"),
        (("claims", 0, "event", "words"), 1, "claims[0].event.words"),
        (("claims", 3, "event", "probability"), 1.5, "claims[3].event.probability"),
        (("claims", 0, "samples", "discovery"), None, "claims[0].samples.discovery"),
        (("claims", 0, "witness"), "none", "claims[0].witness"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_named(
    audit_body: dict[str, Any], saved: Saved, path: tuple[Any, ...], value: Any, named: str
) -> None:
    place: Any = audit_body
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError) as caught:
        read_source(saved(audit_body))
    message = str(caught.value)
    assert message.startswith(f"result.json: {named} is ")
    assert message.endswith("write the file again")
    assert "\n" not in message


def test_another_format_and_no_file_are_refused(saved: Saved, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a pdpaudit-result/1 file"):
        read_source(saved({"format": "pdpaudit-result/2"}))
    with pytest.raises(InputError, match="No such file"):
        read_source(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        read_source(tmp_path / "text.json")


SIMPLE = [st.none(), st.booleans(), st.integers(-5, 5), st.just(10**400), st.floats()]
JSON = st.recursive(
    st.one_of(*SIMPLE, st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=settings().max_examples * 3 // 2)
@given(data=st.data())
def test_any_json_in_the_free_places_is_reported_or_refused(data: st.DataObject) -> None:
    """Pairs, witnesses, tables and context are anybody's; a report never fails over them."""
    keys = ("n", "vertex", "left", "right", "edges", "targets", "values", "base", "pair", "names",
            "lost", "gained", "mechanism", "parameters", "epsilon", "components", "seeds",
            "vertex_name", "family", "network", "max_degree", "property")  # fmt: skip
    some = st.dictionaries(st.sampled_from(keys), JSON | st.just(2) | st.just([[0, 1]]), max_size=8)
    claim = {
        "status": "violated",
        "claimed": {"epsilon": 1.0},
        "event": {**data.draw(some), "values": data.draw(JSON), "side": data.draw(JSON)},
        "pair": data.draw(some),
        "witness": {**data.draw(some), "pair": {**data.draw(some), "base": data.draw(some)}},
    }
    check = {
        "name": data.draw(st.sampled_from(["targeted-sensitivity", "tightness", "x"])),
        "status": "violated",
        "declared": data.draw(JSON),
        "observed": data.draw(JSON),
        "witness": data.draw(some),
    }
    body = {
        "command": "audit",
        "subject": "A",
        "seed": 1,
        "claims": [claim],
        "checks": [check],
        "context": {"tried": data.draw(JSON), "more": data.draw(JSON)},
    }
    try:
        sources = [source_from_json(body, "a.json")]
    except InputError:
        return
    render_html(sources)
    render_markdown(sources)
