"""The pytest plugin: options, the fixture ``pdp``, the marker ``pdp_audit``, and its summary.

It is imported at the start of every test run on the machine, audits or not: nothing heavy is
imported here, and nothing of it is started before a test audits something.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pdpaudit.testing.session import Budget, Session


class Worker(Protocol):
    """A worker process of pytest-xdist, which need not be installed."""

    config: pytest.Config


SESSION = pytest.StashKey["Session"]()

MARKER = (
    "pdp_audit(epsilon=None, delta=None, samples=None): this test audits a mechanism; the claim to "
    "test, where it is not the mechanism's own, and fresh samples a side."
)

#: Option, metavar, what it means; each but the last two is an ini setting too.
SETTINGS = (
    ("confidence", "P", "that no true claim fails in the whole session; default 0.95"),
    ("samples", "N", "fresh samples a side for each claim, even where an exact law would do"),
    ("seed", "N", "root of all randomness; default 0, so that reruns are identical"),
    ("time-limit", "SECONDS", "for the search of each audit, and for the checks of a statistic"),
    ("baseline", "FILE", "fail also where a loss grew beyond the one recorded there"),
    ("tolerance", "NATS", "growth beyond the baseline that is allowed; default 0"),
    ("report", "FOLDER", "write each result there, for `pdpaudit report`"),
    (
        "fail-on",
        "STATUS",
        "inconclusive: a claim that stands because little could have been found fails, too",
    ),
    ("audits", "N", "tests that audit, at most; the error is split over this number (default: 10)"),
    ("summary", "FILE", "append a Markdown summary; default $GITHUB_STEP_SUMMARY"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and ini settings."""
    group = parser.getgroup("pdpaudit", "privacy audits (pdpaudit)")
    for name, metavar, meaning in SETTINGS:
        dest = "pdp_" + name.replace("-", "_")
        group.addoption(f"--pdp-{name}", dest=dest, metavar=metavar, default=None, help=meaning)
        parser.addini(dest, meaning, type="string", default=None)
    group.addoption(
        "--pdp-update-baseline",
        dest="pdp_update_baseline",
        action="store_true",
        help="record the losses of this run in --pdp-baseline instead",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, and refuse what cannot be carried out."""
    from pdpaudit.testing.session import Session

    config.addinivalue_line("markers", MARKER)
    config.stash[SESSION] = session = Session(config)
    config.pluginmanager.register(_Reports(session), "pdpaudit-reports")


@pytest.fixture
def pdp(request: pytest.FixtureRequest) -> Budget:
    """Audit mechanisms and check statistics: ``pdp.assert_private``, ``pdp.assert_statistic``."""
    from pdpaudit.testing.session import current

    return current()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Count the tests that audit before any is deselected, so that ``-k`` changes no verdict."""
    session.config.stash[SESSION].collected(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let each test, its fixtures included, find its own budget."""
    from pdpaudit.testing.session import entered

    with entered(None):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin anew, also where a test is run again."""
    from pdpaudit.testing.session import enter

    session = item.config.stash[SESSION]
    enter(lambda: session.budget(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what was found along with the report, across processes too."""
    from pdpaudit.testing.session import taken

    report = yield
    rows = taken()
    if rows:
        setattr(report, "pdpaudit", rows)  # noqa: B010 - reports carry what plugins add
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Worker) -> None:
    """Take over what only a worker process of pytest-xdist could know."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[SESSION].stale.update(output.get("pdpaudit_stale", ()))


class _Reports:
    """Hooks that pytest calls without the configuration."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what the tests found."""
        self._session.rows += getattr(report, "pdpaudit", ())


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the baseline and the summary, once and not in each worker process."""
    config = session.config
    output: dict[str, object] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["pdpaudit_stale"] = sorted(config.stash[SESSION].stale)
        return
    config.stash[SESSION].finish()
    if config.stash[SESSION].problems and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Say how many audits there were, how sure they are, and what to do next."""
    lines: Iterable[str] = config.stash[SESSION].summary()
    for number, line in enumerate(lines):
        if number == 0:
            terminalreporter.write_sep("=", "privacy audits")
        terminalreporter.write_line(line)
