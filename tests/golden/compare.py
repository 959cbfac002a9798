"""Run every command of the golden master again, and say where it differs from what was recorded.

python tests/golden/compare.py                  all of them
python tests/golden/compare.py --only 'sfs*'    some of them
"""

from __future__ import annotations

import argparse
import difflib
import sys
from itertools import islice

from record import read, run_all

#: Lines shown of each difference.
SHOWN = 40


def difference(name: str, text: str) -> list[str]:
    """Return the first lines in which a command differs from its record; none where it does not."""
    kept = read(name)
    if kept is None:
        return ["not recorded"]
    lines = difflib.unified_diff(
        kept.splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=2
    )
    return list(islice(lines, SHOWN))


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(description="Compare what the commands give with the record.")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of scenarios")
    different = total = 0
    for name, text, _ in run_all(parser.parse_args().only):
        lines = difference(name, text)
        total, different = total + 1, different + bool(lines)
        sys.stdout.write("\n".join([f"{name}: {'DIFFERENT' if lines else 'same'}", *lines]) + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"{different} of {total} differ\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
