"""What a result says of itself comes first, as text, or is refused."""

from __future__ import annotations

import copy
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pdpaudit.core.errors import InputError
from pdpaudit.report.blocks import Table, visible
from pdpaudit.report.document import compose
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import section, source_from_json

DOSSIER = {
    "title": "A dossier",
    "text": ["Made by hand."],
    "made": "python make.py",
    "replay": "python again.py",
    "sections": [
        section(
            "Findings",
            text=["See `a_table`."],
            tables=[Table("Sizes", ("what", "how many"), (("apples", "3"),), numeric=True)],
            points=["Apples: `three`."],
        )
    ],
}


class Tags(HTMLParser):
    """The tags of a page, and what is read between them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def sourced(body: dict[str, Any], dossier: Any) -> Any:
    return source_from_json(body | {"context": {"dossier": dossier, "other": [1]}}, "a.json")


def test_it_follows_the_verdicts_and_replaces_what_else_was_recorded(
    audit_body: dict[str, Any],
) -> None:
    text = render_markdown([sourced(audit_body, DOSSIER)])
    headings = [line for line in text.splitlines() if line.startswith(("# ", "## "))]
    assert headings[:3] == ["# A dossier", "## Verdicts", "## Findings"]
    assert "See `a_table`." in text
    assert "| apples | 3 |" in text
    assert "- Apples: `three`." in text
    assert "python make.py" in text
    assert "python again.py" in text
    assert "Also recorded" not in text
    page = render_html([sourced(audit_body, DOSSIER)])
    places = [page.index(what) for what in ("A dossier", 'id="verdicts"', "<code>a_table</code>")]
    assert places == sorted(places)


def test_of_several_each_says_it_in_its_own_part(
    audit_body: dict[str, Any], check_body: dict[str, Any]
) -> None:
    sources = [sourced(audit_body, DOSSIER), sourced(check_body, DOSSIER | {"title": "Another"})]
    text = render_markdown(sources)
    assert text.startswith("# Privacy report on 2 results\n")
    assert text.count("\n### Findings\n") == 2
    assert "\n## Another\n" in text
    page = render_html(sources)
    assert page.count("Findings</bdi></h3>") == 2


def test_results_about_the_same_are_known_by_their_files(
    audit_body: dict[str, Any], check_body: dict[str, Any]
) -> None:
    about = str(audit_body["subject"])
    names = ["one.json", "two.json"]
    sources = [source_from_json(audit_body, name) for name in names]
    text = render_markdown([*sources, source_from_json(check_body, "three.json")])
    rows, rest = text.split("## Verdicts")[1].split("\n## ", 1)
    titles = [line for line in rest.splitlines() if line.startswith("## ")]
    for name in names:
        assert any(f" of {about} ({name})" in row for row in rows.splitlines())
        assert f"Privacy audit of {about} ({name})" in f"## {rest}"
    assert len(set(titles)) == len(titles) > 0
    assert "three.json)" not in text


def test_hostile_text_is_text(hostile: str, check_body: dict[str, Any]) -> None:
    bad = {
        "title": hostile,
        "text": [hostile, f"`{hostile}`"],
        "made": hostile,
        "sections": [
            section(
                hostile,
                text=[hostile],
                tables=[Table(hostile, (hostile, "b"), ((hostile, hostile),), hostile)],
                points=[f"a `{hostile}` b"],
            )
        ],
    }
    source = sourced(check_body, bad)
    shown = " ".join(visible(hostile).split())[:40]
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = [
        token
        for line in reader.parse(render_markdown([source]))
        for token in [line, *(line.children or [])]
    ]
    kinds = {token.type.removesuffix("_open") for token in tokens}
    assert not kinds & {"link", "image", "em", "s", "hr", "ordered_list"}
    html = {token.content for token in tokens if token.type == "html_inline"}
    assert html <= {"<!-- -->"}
    assert shown in "".join(t.content for t in tokens if t.type in ("text", "code_inline"))
    page = Tags(render_html([source]))
    ours = Tags(render_html([sourced(check_body, DOSSIER)]))
    assert page.tags <= ours.tags
    assert shown in " ".join(page.words.split())
    assert "\u202e" not in page.words


@pytest.mark.parametrize(
    "change",
    [
        None,
        {"title": 3},
        {"text": "words"},
        {"sections": {}},
        {"sections": [{"text": []}]},
        {"sections": [{"heading": "a", "tables": [{"caption": "c", "columns": [], "rows": []}]}]},
        {
            "sections": [
                {
                    "heading": "a",
                    "tables": [{"caption": "c", "columns": ["a"], "rows": [["1", "2"]]}],
                }
            ]
        },
        {"sections": [{"heading": "a"}] * 101},
    ],
    ids=str,
)
def test_what_is_not_of_that_form_is_refused(audit_body: dict[str, Any], change: Any) -> None:
    dossier = None if change is None else {**copy.deepcopy(DOSSIER), **change}
    with pytest.raises(InputError, match=r"^a\.json: context\.dossier\.\S+ is .*, not "):
        compose([sourced(audit_body, dossier)])
