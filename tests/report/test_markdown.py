"""The Markdown says what the result says, and hostile text does nothing in it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pdpaudit.report.blocks import visible
from pdpaudit.report.rendering import code, escape, fenced, render_markdown
from pdpaudit.report.sources import Source, source_from_json

FOLDED = ("<details>\n<summary>Glossary</summary>", "</details>")
ALLOWED = {
    "heading", "paragraph", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td",
    "strong", "text", "code_inline", "fence", "inline", "softbreak", "html_inline", "html_block",
}  # fmt: skip


def parsed(text: str) -> list[Token]:
    """Return all tokens of a Markdown text, those within lines too."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens: list[Token] = []
    for token in reader.parse(text):
        tokens += [token, *(token.children or [])]
    return tokens


def plain(text: str) -> str:
    """Return what a reader sees."""
    shown = [t.content for t in parsed(text) if t.type in ("text", "code_inline", "fence")]
    return "".join(shown)


def check_harmless(text: str) -> None:
    """Refuse links, pictures, HTML but for empty comments, and anything we did not write."""
    for token in parsed(text):
        assert token.type.removesuffix("_open").removesuffix("_close") in ALLOWED, token
        if token.type.startswith("html"):
            assert token.content.strip() in ("<!-- -->", *FOLDED)
    code_of_any_kind = r"^(`{3,}).*?^\1$|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\2(?!`)"
    rest = re.sub(code_of_any_kind, "", text, flags=re.MULTILINE | re.DOTALL)
    # What hosting sites make of plain text.
    assert not re.search(r"@\w|://|www\.\w|(?<!\\)\$|#\d|:\w+:", rest)


def test_the_text_says_what_the_results_say(sources: list[Source]) -> None:
    text = render_markdown(sources)
    check_harmless(text)
    words = plain(text)
    for said in (
        "5 claims: 1 violated, 1 inconclusive, 2 not rejected, 1 skipped; 5 checks: 1 violated",
        "Rewiring Javert from {Valjean, Cosette, Enjolras} to {Valjean, Marius} makes",
        "4,903 against 1,360, of 20,000 each",
        "pdpaudit replay audit.json",
        "Javert loses Cosette, Enjolras; gains Marius; keeps Valjean.",
        "3 rounds of ε = 0.5 each, at δ = 1e-06",
    ):
        assert said in words


def test_the_text_says_what_was_measured(measured: list[Source]) -> None:
    text = render_markdown(measured)
    check_harmless(text)
    words = plain(text)
    for said in (
        "Network: my edges.csv, 4,714 vertices",
        "PTarget finds 108.2 ± 6.77 over 200 runs, 10% fewer.",
        "the true one is 1.5, so the claim understates the risk.",
        "No rewiring tried of any of the 3,000 protected people costs more than 0.9375",
        "The 3 most exposed of 3,000",
    ):
        assert said in words
    assert "| 2,000 | 120 | 108.2 ± 6.8 | 90% | 6 ± 0.5 | 1.2 ± 0 | 1.5 ± 0.1 |" in text
    assert "| 1,000 | 67 | 60.55 ± 3.8 | 90% | 3.5 ± 0.5 | 1.1 ± 0 | 1.25 ± 0.1 |" in text


@pytest.mark.parametrize("made", ["sources", "measured"])
def test_every_row_of_a_table_has_all_its_cells(made: str, request: pytest.FixtureRequest) -> None:
    width = 0
    for line in render_markdown(request.getfixturevalue(made)).splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line))
        assert not line.startswith("|") or width in (0, cells)
        width = cells if line.startswith("|") else 0


def test_hostile_text_is_text(hostile: str, hostile_sources: list[Source]) -> None:
    text = render_markdown(hostile_sources)
    check_harmless(text)
    start = " ".join(visible(hostile).split())[:40]
    assert start in plain(text)
    assert "x" * 10_000 not in text
    assert text.encode("utf-8")
    assert len(text) < 300_000


@given(st.text(st.characters(codec=None), max_size=40))
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    shown = " ".join(visible(text).split())
    page = f"a {escape(text)}\n\n| {escape(text)} | b |\n| --- | --- |\n| c | d |\n"
    check_harmless(page)
    texts = ["".join(t.content for t in line.children or [] if t.type == "text")
             for line in MarkdownIt("commonmark").enable("table").parse(page)
             if line.type == "inline"]  # fmt: skip
    assert texts == [f"a {shown}".strip(), shown, "b", "c", "d"]


@given(st.text(st.sampled_from("`a \n|"), max_size=12))
def test_code_holds_its_fence(text: str) -> None:
    block = [t for t in parsed(fenced(text, "sh")) if t.type == "fence"]
    assert [t.content.rstrip("\n") for t in block] == [text.rstrip("\n")]
    if text.split():
        inline = [t for t in parsed(code(text)) if t.type == "code_inline"]
        assert [t.content for t in inline] == [" ".join(text.split())]


def test_500_claims_are_written(many_claims: dict[str, Any]) -> None:
    text = render_markdown([source_from_json(many_claims, "many.json")])
    assert text.count("### claim ") == 500
    assert len(text.encode()) < 5_000_000
