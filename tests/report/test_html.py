"""The page is well-formed, says what the result says, and shows hostile text as text."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from pdpaudit.report.blocks import visible
from pdpaudit.report.rendering import render_html
from pdpaudit.report.sources import Source, source_from_json

VOID = {"meta", "link", "br"}
# A start tag of these that is closed at once, as SVG allows.
DRAWN = {
    "svg", "g", "line", "path", "circle", "rect", "text", "tspan", "title", "use", "defs",
    "clippath",
}  # fmt: skip
TAGS = VOID | DRAWN | {
    "html", "head", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "p", "ul", "ol", "li",
    "nav", "main", "section", "article", "div", "table", "caption", "thead", "tbody", "tr", "th",
    "td", "figure", "figcaption", "span", "bdi", "pre", "code", "dl", "dt", "dd", "footer",
    "details", "summary", "strong",
}  # fmt: skip


class Page(HTMLParser):
    """A strict reading of a page: every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.children: dict[int, set[str]] = {}
        self.within: list[int] = []
        self.in_svg: set[int] = set()
        self.words: list[str] = []
        self.comments = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"attribute twice in {tag}"
        for place in self.within:
            self.children.setdefault(place, set()).add(tag)
        self.tags.append((tag, dict(attrs)))
        if "svg" in self.open:
            self.in_svg.add(len(self.tags) - 1)
        if tag not in VOID:
            self.open.append(tag)
            self.within.append(len(self.tags) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in DRAWN, f"{tag} closes itself"
        for place in self.within:
            self.children.setdefault(place, set()).add(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()
        self.within.pop()

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments += 1

    @property
    def text(self) -> str:
        return "".join(self.words)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def check_page(text: str) -> Page:
    """Hold a page to everything that is promised of it."""
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert {tag for tag, _ in page.tags} <= TAGS
    assert page.comments == 0
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for place, (tag, attributes) in enumerate(page.tags):
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
        for name in ("href", "src"):
            target = attributes.get(name)
            assert target is None or target == "data:," or (target or "")[1:] in ids, target
        for name in ("aria-labelledby",):
            assert attributes.get(name) is None or attributes[name] in ids
        if tag == "th":
            assert attributes.get("scope") in ("col", "row")
        if tag == "table":
            assert {"caption", "thead", "th"} <= page.children[place]
        # Only a drawing within a drawing needs no words of its own.
        if tag == "svg" and attributes.get("aria-hidden") != "true" and place not in page.in_svg:
            label = attributes.get("aria-label") or attributes.get("aria-labelledby")
            assert attributes.get("role") == "img"
            assert label
        if tag in ("ul", "ol"):
            assert "li" in page.children[place]
    assert len(page.of("nav")) <= 1
    for landmark in ("header", "main", "footer", "h1"):
        assert len(page.of(landmark)) == 1
    assert page.of("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    return page


def test_the_page_is_well_formed_and_reaches_nothing(sources: list[Source]) -> None:
    text = render_html(sources)
    page = check_page(text)
    policy = next(a["content"] for a in page.of("meta") if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"url\((?!#)", text)
    assert "http" not in page.text


def test_the_page_says_what_the_results_say(sources: list[Source]) -> None:
    words = " ".join(check_page(render_html(sources)).text.split())
    for said in (
        "5 claims: 1 violated, 1 inconclusive, 2 not rejected, 1 skipped; 5 checks: 1 violated, 1 "
        "not rejected, 2 certified, 1 skipped",
        "The privacy promise is broken: some output is at least 3.3 times as likely",
        "What to do: Do not rely on the claimed ε = 1.000",
        "Rewiring Javert from {Valjean, Cosette, Enjolras} to {Valjean, Marius} makes",
        "4,903 against 1,360, of 20,000 each",
        "1.207, confidence 0.95",
        "a loss of 1.126, with probability 0.95",
        "no loss, however large: too few runs",
        # Towards the likelier side: Marius comes, the others go.
        "Javert loses Cosette, Enjolras; gains Marius; keeps Valjean.",
        "5 neighbouring pairs tried.",
        "swap32",
        "at most 0.05",
        "pdpaudit audit PTarget --epsilon 0.5 --components 4 --samples 20000 --confidence 0.95 "
        "--method exact --edges 'my edges.csv' --seeds Valjean --seed 7 --json audit.json",
        "pdpaudit replay audit.json",
        "3 rounds of ε = 0.5 each, at δ = 1e-06",
        "Exact targeted sensitivity Δ",
        "Impact cardinality IC by degree bound",
        "interrupted before this claim was confirmed",
        "for v in range(4)])",
        "Trade-off curve",
    ):
        assert said in words


def test_the_page_says_what_was_measured(measured: list[Source]) -> None:
    text = render_html(measured)
    words = " ".join(check_page(text).text.split())
    for said in (
        "Network: my edges.csv, 4,714 vertices and 91,750 edges, 129 targeted people (11 "
        "components, the largest of 100). Budget: 2,000 oracle calls in each run.",
        # 0.9 · 120 + 0.25, and a sixteenth of that.
        "Without privacy, Target finds 120 targeted people with 2,000 oracle calls. PTarget finds "
        "108.2 ± 6.77 over 200 runs, 10% fewer. The claim allows a risk multiplier e^ε of "
        "1.2; the true one is 1.5, so the claim understates the risk.",
        "a risk multiplier e^ε of ∞; the true one is not known.",
        "How the true multiplier is known: 2ε a round, by the exact law.",
        "weight below 2",
        "PTarget: 1 protected person examined, 3 targets found",
        "pdpaudit simulate PTarget:main-text --against Target --epsilon 0.05 --runs 200 --edges "
        "'my edges.csv' --seed 5 --json simulation.json",
        "No rewiring tried of any of the 3,000 protected people costs more than 0.9375, which "
        "makes an outcome of the next round 2.6 times likelier or less likely. Javert loses most, "
        "through: Marius is found first.",
        "Lose nothing by being isolated: 2,990 of 3,000.",
        "Only the 2 most exposed by being isolated were rewired at their worst",
        "The audit of the claims found a pair of networks that costs more, 1.2500",
        "--exposure --seed 7 --json exposure.json",
        "Risk multiplier e^ε",
    ):
        assert said in words
    # A simulation has no verdict, and none is shown: the tally is of the one claim.
    assert text.count('class="badge') == text.count('class="badge not_rejected"') == 3
    assert "skipped" not in words


def test_no_sentence_stands_twice(sources: list[Source], measured: list[Source]) -> None:
    for shown in (sources, measured, sources[:1], measured[:1]):
        page = Page(render_html(shown))
        words = [" ".join(words.split()) for words in page.words]
        long = [line for line in words if line.count(" ") > 9]
        assert len(long) == len(set(long))


def test_hostile_text_is_text(hostile: str, hostile_sources: list[Source]) -> None:
    text = render_html(hostile_sources)
    page = check_page(text)
    start = visible(hostile)[:40].split("\n")[0]
    assert start in page.text
    assert "x" * 10_000 not in text
    assert text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert len(text) < 400_000


def test_text_from_right_to_left_stays_to_itself(audit_body: dict[str, Any]) -> None:
    name = "ז'אן"
    pair = audit_body["claims"][0]["witness"]["pair"]
    pair["vertex_name"] = name
    audit_body["claims"][0]["pair"]["words"] = f"rewiring {name} from {{a}} to {{b}}"
    text = render_html([source_from_json(audit_body, "a.json")])
    assert "Rewiring <bdi>ז&#39;אן</bdi> from {a} to {b}" in text


def test_a_name_in_a_measurement_is_cut_once_and_stays_to_itself(
    simulation_body: dict[str, Any],
) -> None:
    name = "ז'אן" + "x" * 10_000
    simulation_body["context"]["simulation"]["searches"][1]["name"] = name
    text = render_html([source_from_json(simulation_body, "a.json")])
    assert "… (10,004 characters)</bdi>, ε = 0.05</h3>" in text
    assert "mean of 200 runs: ז'אן" in text
    assert "… (10,004 characters)</bdi> finds 108.2" in text
    assert not re.search(r"\(\d\d characters", text)


def test_a_claim_broken_by_an_infinite_loss_is_drawn(audit_body: dict[str, Any]) -> None:
    claim = audit_body["claims"][3]
    claim |= {"status": "violated", "exact": "inf", "lower_bound": "inf"}
    claim["event"] |= {"probability": 0.5, "probability_other": 0.0}
    assert "∞" in check_page(render_html([source_from_json(audit_body, "a.json")])).text


@pytest.mark.parametrize("status", ["error", "skipped", "certified", "inconclusive"])
def test_results_with_little_in_them_are_shown(status: str) -> None:
    claim = {"statement": "1-protected DP", "status": status, "claimed": {"epsilon": 1.0}}
    for body in (
        {"command": "audit", "subject": "A", "seed": 1},
        {"command": "audit", "subject": "A", "seed": 1, "claims": [claim]},
        {
            "command": "check",
            "subject": "A",
            "seed": 1,
            "checks": [{"name": "a", "status": status}],
        },
        {"command": "simulate", "subject": "A", "seed": 1, "context": {"curves": [{"a": 1}]}},
    ):
        check_page(render_html([source_from_json(body, "a.json")]))


def test_two_runs_give_the_same_page(sources: list[Source]) -> None:
    assert render_html(sources) == render_html(sources)


def test_500_claims_render_quickly_and_small(many_claims: dict[str, Any]) -> None:
    texts, spent = [], []
    for number in (50, 500):
        source = source_from_json({**many_claims, "claims": many_claims["claims"][:number]}, "many")
        began = time.process_time()
        texts.append(render_html([source]))
        spent.append(time.process_time() - began)
    # Measured in one run, whatever the machine: no more for each claim, pictures included.
    assert spent[1] < 10 * spent[0]
    text = texts[1]
    assert len(text.encode()) < 5_000_000
    page = check_page(text)
    assert "480 claims and checks have none" in page.text
    assert page.text.count("claim 499") >= 2
