"""Words the product does not use, in text or in names; a file that still has some is listed.

Run as a script to take the files that have none any more off the list.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTED = Path(__file__).with_name("still_to_clean.txt")
ROOMS = ("pdpaudit", "algorithms", "attacks", "reports")
WORDS = re.compile(
    r"(?<![a-z])(told|arms?|grounds?(?! truth)|dear|mend(?:s|ed)?|in vain|by heart|so many"
    r"|held against|hunt(?:ing|s)?)(?![a-z])"
)


def words_in(text: str) -> list[str]:
    """Return the words to avoid, also those that are part of a name."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()
    return WORDS.findall(" ".join(apart.split()))


def unclean() -> list[str]:
    """Return the files of the product that have such words."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for ending in ("*.py", "*.j2")
        for path in (ROOT / room).rglob(ending)
        # Published pages and their numbers are made by the product.
        if (room != "reports" or ending == "*.py")
        if words_in(path.read_text(encoding="utf-8"))
    )


def listed() -> list[str]:
    return LISTED.read_text(encoding="utf-8").split()


#: Rooms that know the command line; the tests' own options are pytest's.
KNOWS_FLAGS = ("cli", "report", "testing")

#: A flag in a text.
FLAG = re.compile(r"(?:^|[\s`'\"(])--[a-z]")


def flags_in(path: Path) -> list[str]:
    """Return the texts of a module that name a flag, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    return [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
        if id(one) not in said and FLAG.search(one.value)
    ]


def test_only_the_command_line_and_reports_name_flags() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): texts
        for room in ("pdpaudit", "algorithms", "attacks")
        for path in (ROOT / room).rglob("*.py")
        if path.relative_to(ROOT).parts[1] not in KNOWS_FLAGS
        if (texts := flags_in(path))
    }
    assert found == {}


def test_words_are_found_in_text_and_in_names() -> None:
    assert words_in("a dear friend is told_so; DrawnArm, so\n    many") == [
        *("dear", "told", "arm", "so many")
    ]
    assert words_in("the ground truth of an army, background, charm, amend") == []


def test_no_other_file_has_words_to_avoid() -> None:
    assert [path for path in unclean() if path not in listed()] == []


def test_the_list_has_no_file_that_is_clean() -> None:
    """Take it off: python tests/house/test_words.py."""
    assert [path for path in listed() if path not in unclean()] == []


if __name__ == "__main__":
    left = [path for path in listed() if path in unclean()]
    LISTED.write_text("".join(f"{path}\n" for path in left), encoding="utf-8")
