"""What audits and checks write today is what the report reads."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pytest

from pdpaudit.auditing import Config, audit
from pdpaudit.checks import Options, check_sop
from pdpaudit.core.network import Network, adjacency_from_networkx
from pdpaudit.core.protocols import Law, PrivacyClaim
from pdpaudit.core.specification import Specification
from pdpaudit.core.statistic import statistic
from pdpaudit.report.blocks import Paragraph, Pictures, Section, Table
from pdpaudit.report.document import compose
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import Source, source_from_json
from pdpaudit.results.results import Result


class LeakyCoin:
    """Answers 1 with a probability that grows with the edges of the network."""

    claims: ClassVar = (PrivacyClaim(0.1, source="a test"), PrivacyClaim(9.0, source="a test"))
    claim = claims[0]

    def law(self, instance: Any) -> Law:
        chance = (1 + instance.adjacency.nnz / 2) / 100
        return Law({(0,): 1 - chance, (1,): chance})

    def run(self, instance: Any, rng: np.random.Generator) -> tuple[int]:
        return (int(rng.random() < self.law(instance).probabilities[(1,)]),)


@statistic(sensitivity=1, impact_cardinality=3)
def shared(graph: Any, vertex: int, targets: frozenset[int]) -> float:
    """Count walks of two steps to the targets: more can change than is declared."""
    return float(sum(len(set(graph[vertex]) & set(graph[t])) for t in targets if t != vertex))


def network() -> Network:
    adjacency, _ = adjacency_from_networkx(nx.path_graph(5))
    mask = np.array([True, True, False, False, True])
    return Network(adjacency, mask, seeds=(0,), names=tuple("abcde"))


def through_json(result: Result, name: str) -> Source:
    return source_from_json(json.loads(json.dumps(result.to_json(), allow_nan=False)), name)


class Broken(LeakyCoin):
    """Its law fails."""

    def law(self, instance: Any) -> Law:
        raise ValueError("no <law>")


def test_why_a_claim_could_not_be_judged_is_said() -> None:
    result = audit(
        Broken(), [network()], Config(seed=1), subject="coin", spec=Specification("coin")
    )
    sources = [through_json(result, "coin.json")]
    html, markdown = render_html(sources), render_markdown(sources)
    for text in (html, markdown):
        assert re.search(
            r"its law raised ValueError: no &lt;law&gt; \(.*\); .?`samples.?` does", text
        )
    assert "sharpest test" not in html + markdown


@pytest.mark.parametrize("samples", [None, 2000], ids=["by law", "by samples"])
def test_an_audit_is_shown_in_full(samples: int | None) -> None:
    plan = Config(seed=1, samples=samples, jobs=1)
    result = audit(LeakyCoin(), [network()], plan, subject="coin", spec=Specification("coin"))
    source = through_json(result, "coin.json")
    detail = compose([source]).sections[-1]
    sections = {one.heading: one for one in detail.blocks if isinstance(one, Section)}
    assert "What was tried, and how sure this is" in sections
    claims = [one for one in sections.values() if "-claim-" in one.anchor]
    assert len(claims) == 2
    for one in claims:
        words, pictures, facts = one.blocks
        # The sentence is the one of the terminal, not what is said where the file tells less.
        assert isinstance(words, Paragraph)
        assert not words.text.startswith("Lower bound")
        assert isinstance(pictures, Pictures)
        pair, curve = pictures.items
        assert "contact" in pair.draw("a")
        assert pair.note == ""  # all of the network is drawn
        assert "limit of the claim" in curve.draw("a")
        assert isinstance(facts, Table)
    assert render_html([source])
    assert render_markdown([source])


def test_a_check_is_shown_in_full() -> None:
    options = Options(max_vertices=4, examples=0, time_limit=60)
    results = check_sop(shared, options)
    body = Result("check", "sops.py:shared", 0, 1.0, checks=tuple(results))
    detail = compose([through_json(body, "check.json")]).sections[-1]
    checks = next(one for one in detail.blocks if isinstance(one, Section))
    by_name = {one.heading: one.blocks for one in checks.blocks if isinstance(one, Section)}
    words, pictures = by_name["targeted-sensitivity"][:2]
    assert isinstance(words, Paragraph)
    assert words.status == "violated"
    assert isinstance(pictures, Pictures)
    assert "not in S" in pictures.items[0].draw("a")
    assert pictures.beside is not None
    assert "sops.py:shared" in pictures.beside.text
    assert [one.caption for one in by_name["tightness"] if isinstance(one, Table)] == [
        "Exact targeted sensitivity Δ",
        "Exact impact cardinality IC",
    ]
    assert render_html([through_json(body, "check.json")])
