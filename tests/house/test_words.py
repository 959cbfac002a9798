"""Words the product does not use, in text or in names; a file that still has some is listed.

Run as a script to take the files that have none any more off the list.
"""

from __future__ import annotations

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
