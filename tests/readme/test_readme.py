"""Every output the README and the site show is what its command prints; their code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .examples import EXAMPLE, FILE, PAGES, README, ROOT, RUN, folder_of, printed

TEXT = README.read_text(encoding="utf-8")
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
SHOWN = [(page, *found) for page, text in TEXTS.items() for found in EXAMPLE.findall(text)]
#: What takes most of a minute: a hundred thousand runs of another library's code.
LONG = "audit ages.py:MeanAgeOfAnybody --relation replace --seed 1 --quick"
CODE = [(page, code) for page, text in TEXTS.items() for code in RUN.findall(text)]


@pytest.mark.parametrize(
    ("page", "program", "command", "shown"),
    [pytest.param(*one, marks=[pytest.mark.slow] * (one[2] == LONG)) for one in SHOWN],
    ids=lambda text: text[:40],
)
def test_what_is_shown_is_what_is_printed(
    page: str, program: str, command: str, shown: str
) -> None:
    if "from diffprivlib" in TEXTS[page]:
        pytest.importorskip("diffprivlib")
    with folder_of(TEXTS[page]):
        assert printed(program, command) == shown


@pytest.mark.parametrize(("page", "code"), CODE, ids=lambda text: text[:40])
def test_code_that_is_shown_runs(page: str, code: str) -> None:
    with folder_of(TEXTS[page]):
        exec(compile(code, page, "exec"), {})


def test_tests_that_are_shown_are_red(pytester: pytest.Pytester) -> None:
    """Both tests of the README fail, as it says, for what is wrong with the code they test."""
    for name in ("closeness.py", "search.py"):
        pytester.makepyfile(**{name[:-3]: (ROOT / "examples" / name).read_text(encoding="utf-8")})
    (content,) = (content for name, content in FILE.findall(TEXT) if name == "test_privacy.py")
    pytester.makepyfile(test_privacy=content)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*is not what it declares*", "*is not private as claimed*"])


def test_it_opens_with_one_sentence_and_two_commands() -> None:
    title, sentence, commands = TEXT.split("\n\n")[:3]
    assert title == "# pdpaudit"
    assert sentence.count(".") == 1
    assert len(commands.strip("`sh\n").splitlines()) == 2
    assert len(TEXT.splitlines()) <= 150


def test_ci_runs_the_commands_it_gives() -> None:
    ci = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"pip install [^&\n]+|python -m pytest[^&\n]*", TEXT.split("\n\n")[2])
    assert [command.split()[0] for command in commands] == ["pip", "pip", "python"]
    for command in commands:
        assert command.strip() in ci


def test_every_file_that_the_readme_names_is_there_and_no_link_needs_an_address() -> None:
    """Where a package is shown a link to a file of it leads nowhere."""
    assert re.findall(r"\]\((?!https:)", TEXT) == []
    named = re.findall(r"`((?:reports|docs|examples)/[\w/]*|[A-Z]+\.md)`", TEXT)
    assert len(named) > 8
    for target in named:
        assert Path(ROOT, target).exists(), target
