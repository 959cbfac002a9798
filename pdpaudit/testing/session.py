"""A test session: its settings, what each test may spend, what was found, what is written."""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import shlex
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from pdpaudit.core.errors import InputError, number, whole

if TYPE_CHECKING:
    import pytest

    from pdpaudit.outputs import JSON
    from pdpaudit.results.results import Result


UNANNOUNCED = (
    "this test audits a mechanism, which could not be seen before it ran: mark it with "
    "@pytest.mark.pdp_audit, so that its share of the session's error is set aside"
)

#: Tests that may audit where no number is declared; fixed, or a verdict would depend on selection.
AUDITS = 10

#: How each setting is read, what it must be, and that in words.
READ: dict[str, tuple[Callable[[str], Any], Callable[[Any], bool], str]] = {
    "confidence": (float, lambda p: 0 < p < 1, "must lie between 0 and 1, for example 0.95"),
    "samples": (int, lambda n: n >= 1, "must be a whole number of at least 1"),
    "audits": (int, lambda n: n >= 1, "must be a whole number of at least 1"),
    "fail_on": (str, lambda status: status == "inconclusive", "must be inconclusive"),
    "time_limit": (float, lambda s: 0 < s < math.inf, "give seconds above 0"),
    "tolerance": (float, lambda nats: 0 <= nats < math.inf, "give nats from 0"),
    "seed": (int, lambda n: n >= 0, "must be a whole number of at least 0"),
}

#: What the marker takes, how each is read, and what it must be.
MARKED: dict[str, tuple[Callable[[str, object], float], Callable[[float], bool]]] = {
    "epsilon": (number, lambda value: value >= 0),
    "delta": (number, lambda value: 0 <= value < 1),
    "samples": (whole, lambda value: value >= 1),
}


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    confidence: float = 0.95
    samples: int | None = None
    seed: int = 0
    time_limit: float | None = None
    baseline: Path | None = None
    update: bool = False
    tolerance: float = 0.0
    report: Path | None = None
    audits: int = AUDITS
    fail_on: str = ""
    summary: Path | None = None
    again: str = ""


@dataclass(frozen=True)
class Turn:
    """What one audit within a test may spend."""

    number: int
    seed: int
    alpha: float


@dataclass(repr=False)
class Budget:
    """One test's share of the session; the fixture ``pdp``."""

    settings: Settings = field(default_factory=Settings)
    nodeid: str = ""
    share: float | None = None
    tests: int = 1
    claim: JSON = field(default_factory=dict)
    rerun: str = ""
    base: Path = field(default_factory=Path.cwd)
    cache: Path | None = None
    recorded: JSON = field(default_factory=dict)
    rows: list[JSON] = field(default_factory=list)
    properties: list[tuple[str, object]] = field(default_factory=list)
    audits: int = 0
    files: int = 0
    unwritten: str = ""
    refused: str = ""

    def __repr__(self) -> str:
        """Return little: pytest shows a failing test's arguments."""
        return f"<pdp of {self.nodeid}>"

    @property
    def seed(self) -> int:
        """A seed for this test: the same in every session of this ``--pdp-seed``."""
        return seed_of(self.settings.seed, self.nodeid, 0)

    def turn(self) -> Turn:
        """Return what the next audit may spend: the k-th gets one part in k (k + 1) of the share.

        However many there are, together they spend no more than the share.
        """
        if self.refused or self.share is None:
            raise InputError(self.refused or UNANNOUNCED)
        self.audits += 1
        seed = seed_of(self.settings.seed, self.nodeid, self.audits)
        return Turn(self.audits, seed, self.share / (self.audits * (self.audits + 1)))

    @property
    def assert_private(self) -> Callable[..., Result]:
        """The function :func:`pdpaudit.testing.assert_private`."""
        from pdpaudit.testing import assert_private

        return assert_private

    @property
    def assert_statistic(self) -> Callable[..., Result]:
        """The function :func:`pdpaudit.testing.assert_statistic`."""
        from pdpaudit.testing import assert_statistic

        return assert_statistic


def seed_of(seed: int, nodeid: str, number: int) -> int:
    """Return a seed for the number-th audit of a test, the same wherever and whenever it runs."""
    text = f"{seed}\n{number}\n{nodeid}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big")


#: The test that runs now, made when it is first asked for: most tests never ask. A process runs
#: one test at a time.
_now: Budget | Callable[[], Budget] | None = None


def current() -> Budget:
    """Return the budget of the test that runs; outside pytest one with the defaults."""
    global _now
    if _now is None:
        return Budget(share=1 - Settings.confidence)
    if not isinstance(_now, Budget):
        _now = _now()
    return _now


def enter(budget: Budget | Callable[[], Budget] | None) -> None:
    """Let ``budget``, or what it returns, be the current one."""
    global _now
    _now = budget


def taken() -> list[JSON]:
    """Return what the test found since it was last asked."""
    if not isinstance(_now, Budget):
        return []
    rows, _now.rows = _now.rows, []
    return rows


@contextmanager
def entered(budget: Budget | None) -> Generator[None]:
    """Let ``budget`` be the current one for a while; sessions may run within tests."""
    before = _now
    enter(budget)
    try:
        yield
    finally:
        enter(before)


class Session:
    """What is common to all tests of a session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = _settings(config)
        self.refused = ""
        self.rows: list[JSON] = []
        self.stale: set[str] = set()
        self.problems: list[str] = []
        self._audits: set[str] = set()
        self._recorded: JSON | None = None

    @property
    def recorded(self) -> JSON:
        """The baseline's entries, read when first needed."""
        if self._recorded is None:
            from pdpaudit.testing.baseline import read_baseline

            path = self.settings.baseline
            self._recorded = {} if path is None else read_baseline(path, self.settings.update)
        return self._recorded

    def collected(self, items: list[pytest.Item]) -> None:
        """Count the tests that will audit, and set their shares.

        A worker of pytest-xdist cannot refuse to run: all that it runs audits nothing instead.
        """
        self._audits = {_stable(item) for item in items if announced(item)}
        try:
            self._counted(items)
        except ValueError as error:
            if not hasattr(self.config, "workerinput"):
                raise _refused(str(error)) from None
            self.refused = str(error)

    def _counted(self, items: list[pytest.Item]) -> None:
        for item in items:
            _marked(item)
        found, declared = len(self._audits), self.settings.audits
        if found > declared and not self.config.option.collectonly:
            raise InputError(
                f"{found} tests audit, and the error is split over {declared}: declare at "
                f"least {found}, with pdp_audits = {found} in the ini file or --pdp-audits {found}"
            )
        if self.settings.update:
            names = {_stable(item) for item in items}
            files = {name.partition("::")[0] for name in names}
            for key in self.recorded:
                name = key.partition(" #")[0]
                if name not in names and name.partition("::")[0] in files:
                    self.stale.add(key)

    def budget(self, item: pytest.Item) -> Budget:
        """Return what one test may spend."""
        name = _stable(item)
        audits = name in self._audits
        return Budget(
            self.settings,
            name,
            (1 - self.settings.confidence) / self.settings.audits if audits else None,
            self.settings.audits,
            {} if self.refused else _marked(item),
            self._rerun(item),
            self.config.invocation_params.dir,
            self._cache() if audits else None,
            self.recorded if audits else {},
            properties=item.user_properties,
            refused=self.refused,
        )

    def _cache(self) -> Path | None:
        """Return pytest's own folder for results nobody asked for, if it has one that is there."""
        cache = getattr(self.config, "cache", None)
        with suppress(OSError):
            return None if cache is None else Path(cache.mkdir("pdpaudit"))
        return None

    def _rerun(self, item: pytest.Item) -> str:
        place = os.path.relpath(item.path, self.config.invocation_params.dir)
        test = "::".join([place, *_stable(item).split("::")[1:]])
        return f"pytest {shlex.quote(test)} {self.settings.again}"

    def finish(self) -> None:
        """Write what was asked for."""
        if self.config.option.collectonly:
            return
        path = self.settings.baseline
        try:
            if self.settings.update and path is not None and (self.rows or self.stale):
                from pdpaudit.testing.baseline import write_baseline

                entries = {row["key"]: row["entry"] for row in self.rows if row.get("entry")}
                kept = {key: old for key, old in self.recorded.items() if key not in self.stale}
                settings, self.settings = self.settings, replace(self.settings, baseline=None)
                write_baseline(path, {**kept, **entries})
                self.settings = settings  # nothing is recorded that could not be written
            if self.settings.summary is not None and self.rows:
                from pdpaudit.testing.summary import summary_markdown

                text = summary_markdown(self.rows, self.settings)
                with self.settings.summary.open("a", encoding="utf-8") as file:
                    file.write(text)
        except (InputError, OSError) as error:
            self.problems.append(f"NOT WRITTEN: {error}")
        unwritten = dict.fromkeys(row["unwritten"] for row in self.rows if row.get("unwritten"))
        self.problems += [f"NOT WRITTEN: {words}" for words in unwritten]

    def summary(self) -> Iterator[str]:
        """Yield the lines for the end of the session; none where nothing was audited."""
        if self.rows or self.problems:
            from pdpaudit.testing.summary import summary_lines

            here = self.config.invocation_params.dir
            yield from summary_lines(self.rows, self.settings, here, len(self.stale))
        yield from self.problems


def announced(item: pytest.Item) -> bool:
    """Say whether a test will audit: by its marker, its fixtures, or the names in its code."""
    if item.get_closest_marker("pdp_audit") or "pdp" in getattr(item, "fixturenames", ()):
        return True
    function = getattr(item, "function", None)
    code = None if function is None else getattr(inspect.unwrap(function), "__code__", None)
    if code is not None:
        return "assert_private" in _names(code)
    examples = getattr(getattr(item, "dtest", None), "examples", ())
    return any("assert_private" in example.source for example in examples)


def _names(code: CodeType) -> set[str]:
    """Return the names that code and the functions inside it use."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _stable(item: pytest.Item) -> str:
    """Return a test's name, without the group that pytest-xdist appends in its workers."""
    mark = item.get_closest_marker("xdist_group")
    if mark is None:
        return item.nodeid
    group = mark.args[0] if mark.args else mark.kwargs.get("name", "default")
    return item.nodeid.removesuffix(f"@{group}")


def _marked(item: pytest.Item) -> dict[str, object]:
    """Return what the marker says, the innermost first."""
    found: dict[str, object] = {}
    for mark in item.iter_markers("pdp_audit"):
        unknown = sorted(set(mark.kwargs) - MARKED.keys())
        if mark.args or unknown:
            wrong = unknown[0] if unknown else repr(mark.args[0])
            raise InputError(
                f"{item.nodeid}: pdp_audit does not take {wrong}; it takes epsilon=, delta= and "
                "samples="
            )
        given: dict[str, float] = {}
        for key, value in mark.kwargs.items():
            if value is None:
                continue
            read, fits = MARKED[key]
            with suppress(InputError):
                given[key] = read(key, value)
            if key not in given or not fits(given[key]):
                raise InputError(
                    f"{item.nodeid}: pdp_audit({key}={value!r}): give epsilon from 0, delta from 0 "
                    "below 1, samples from 1"
                )
        found = {**given, **found}
    return found


#: Options of pytest that only list what there is.
LISTINGS = ("help", "markers", "showfixtures", "show_fixtures_per_test", "collectonly", "cacheshow")


def _settings(config: pytest.Config) -> Settings:
    """Return the settings of a session; where nothing is run none that is wrong matters."""
    try:
        return read_settings(config)
    except ValueError as error:
        if any(config.getoption(name, None) for name in LISTINGS):
            return Settings()
        raise _refused(str(error)) from None


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of a session; a path typed is relative to where that was typed."""
    here = config.invocation_params.dir
    values: dict[str, Any] = {}
    again = []
    for name, (parse, fits, remedy) in READ.items():
        typed, text = config.getoption(f"pdp_{name}"), config.getini(f"pdp_{name}") or None
        option = f"pdp_{name}" if typed is None else f"--pdp-{name.replace('_', '-')}"
        text = text if typed is None else typed
        if text is None:
            continue
        try:
            values[name] = parse(text)
        except ValueError:
            values[name] = None
        if values[name] is None or not fits(values[name]):
            raise InputError(f"{option} {text}: {remedy}")
        if typed is not None and name != "seed":
            again.append(f"{option} {shlex.quote(text)}")
    for name in ("baseline", "report", "summary"):
        typed, text = config.getoption(f"pdp_{name}"), config.getini(f"pdp_{name}") or ""
        base = here if typed is not None or config.inipath is None else config.inipath.parent
        if typed is not None or text:
            values[name] = base / Path(text if typed is None else typed).expanduser()
        if typed is not None and name == "baseline":
            again.append(f"--pdp-baseline {shlex.quote(typed)}")
    if os.environ.get("GITHUB_STEP_SUMMARY"):
        values.setdefault("summary", Path(os.environ["GITHUB_STEP_SUMMARY"]))
    update: bool = config.getoption("pdp_update_baseline")
    _require_baseline(values.get("baseline"), update=update)
    _require_folder(values.get("report"))
    again.append(f"--pdp-seed {values.get('seed', 0)}")
    return Settings(**values, update=update, again=" ".join(again))


def _require_baseline(path: Path | None, *, update: bool) -> None:
    if path is None:
        if update:
            raise InputError("--pdp-update-baseline: say which, with --pdp-baseline FILE")
    elif not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; make it first")
    elif not update and not path.is_file():
        raise InputError(
            f"{path}: there is no such baseline; record one with --pdp-update-baseline"
        )


def _require_folder(path: Path | None) -> None:
    there = next((one for one in (path, *path.parents) if one.exists()), path) if path else None
    if there is not None and not there.is_dir():
        raise InputError(f"{path}: {there} is a file; name a folder")


def _refused(words: str) -> Exception:
    """Return the error of a wrong request; outside of pytest nothing is imported for it."""
    import pytest

    return pytest.UsageError(words)
