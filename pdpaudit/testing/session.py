"""One test session: who shares the false alarms, what was found, what is written at the end."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from pdpaudit.testing.gate import Gate
from pdpaudit.testing.settings import read_settings

__all__ = ["Session", "announced"]

LONGEST_COMMAND = 300


class Session:
    """What is common to all tests of a session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = read_settings(config)
        self.rows: list[dict[str, Any]] = []
        self.stale: set[str] = set()
        self.problems: list[str] = []
        self._audits: set[str] = set()
        self._recorded: Mapping[str, Any] | None = None

    @property
    def recorded(self) -> Mapping[str, Any]:
        """The baseline's entries, read when first needed."""
        if self._recorded is None:
            from pdpaudit.testing.baseline import read_baseline

            path = self.settings.baseline
            self._recorded = {} if path is None else read_baseline(path, self.settings.update)
        return self._recorded

    def collected(self, items: list[pytest.Item]) -> None:
        """Count the tests that will audit, and set their shares."""
        for item in items:
            _marked(item)
        self._audits = {_stable(item) for item in items if announced(item)}
        found, declared = len(self._audits), self.settings.audits
        if found > declared:
            raise pytest.UsageError(
                f"{found} tests audit, and the false alarms are split over {declared}: declare at "
                f"least {found}, with pdp_audits = {found} in the ini file or --pdp-audits {found}"
            )
        if self.settings.update:
            names = {_stable(item) for item in items}
            files = {name.partition("::")[0] for name in names}
            for key in self.recorded:
                name = key.partition(" #")[0]
                if name not in names and name.partition("::")[0] in files:
                    self.stale.add(key)

    def gate(self, item: pytest.Item) -> Gate:
        """Return what one test may spend."""
        name = _stable(item)
        audits = name in self._audits
        cache = getattr(self.config, "cache", None)
        return Gate(
            self.settings,
            name,
            (1 - self.settings.confidence) / self.settings.audits if audits else None,
            self.settings.audits,
            _marked(item),
            self._rerun(item),
            self.config.invocation_params.dir,
            Path(cache.mkdir("pdpaudit")) if cache is not None and audits else None,
            self.recorded if audits else {},
            properties=item.user_properties,
        )

    def _rerun(self, item: pytest.Item) -> str:
        place = os.path.relpath(item.path, self.config.invocation_params.dir)
        test = "::".join([place, *_stable(item).split("::")[1:]])
        return f"pytest {shlex.quote(test)} {self.settings.again}"

    def finish(self) -> None:
        """Write what was asked for."""
        if self.config.option.collectonly:
            return
        from pdpaudit.core.errors import InputError

        path = self.settings.baseline
        try:
            if self.settings.update and path is not None and (self.rows or self.stale):
                from pdpaudit.testing.baseline import write_baseline

                entries = {row["key"]: row["entry"] for row in self.rows if row.get("entry")}
                kept = {key: old for key, old in self.recorded.items() if key not in self.stale}
                write_baseline(path, {**kept, **entries})
            if self.settings.summary is not None and self.rows:
                from pdpaudit.testing.summary import summary_markdown

                text = summary_markdown(self.rows, self.settings)
                with self.settings.summary.open("a", encoding="utf-8") as file:
                    file.write(text)
        except (InputError, OSError) as error:
            self.problems.append(f"NOT WRITTEN: {error}")

    def told(self) -> Iterator[str]:
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


def _marked(item: pytest.Item) -> dict[str, Any]:
    """Return what the marker says, the innermost first."""
    told: dict[str, Any] = {}
    for mark in item.iter_markers("pdp_audit"):
        unknown = sorted(set(mark.kwargs) - {"epsilon", "delta", "samples"})
        if mark.args or unknown:
            wrong = unknown[0] if unknown else repr(mark.args[0])
            raise pytest.UsageError(
                f"{item.nodeid}: pdp_audit does not take {wrong}; it takes epsilon=, delta= and "
                "samples="
            )
        for key, value in mark.kwargs.items():
            if value is not None and (
                not isinstance(value, int | float)
                or not {
                    "epsilon": value >= 0,
                    "delta": 0 <= value < 1,
                    "samples": isinstance(value, int) and value >= 1,
                }[key]
            ):
                raise pytest.UsageError(
                    f"{item.nodeid}: pdp_audit({key}={value!r}): give epsilon from 0, delta from 0 "
                    "below 1, samples from 1"
                )
        told = {**mark.kwargs, **told}
    return {key: value for key, value in told.items() if value is not None}
