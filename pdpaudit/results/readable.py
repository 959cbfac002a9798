"""What a person asks of a result: does the claim stand, how much leaks, a text, a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdpaudit.outputs.records import JSON
    from pdpaudit.results.results import CheckResult, ClaimResult, Status

__all__ = ["Readable"]

#: Columns of a summary.
WIDTH = 100


class Readable:
    """The readable side of :class:`pdpaudit.Result`."""

    if TYPE_CHECKING:
        command: str
        subject: str
        checks: tuple[CheckResult, ...]
        claims: tuple[ClaimResult, ...]
        context: JSON

        to_json: Callable[[], JSON]

        @property
        def status(self) -> Status:
            """The worst of what is inside."""

    @property
    def violated(self) -> bool:
        """Whether a claim is broken, or a statistic is not what it declares."""
        return self.status == "violated"

    @property
    def lower_bound(self) -> float:
        """The largest loss shown, in nats: exact, or a lower bound at the stated confidence.

        0 where no loss was shown.
        """
        return max((one.lower_bound or 0.0 for one in self.claims), default=0.0)

    def __repr__(self) -> str:
        """Say in one line what was found."""
        return f"<Result: {self._line()}>"

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        from html import escape

        return f"<pre>{escape(self.summary())}</pre>"

    def _line(self) -> str:
        head = f"{self.command} of {self.subject}: {self.status.replace('_', ' ')}"
        if not self.claims:
            checks = "1 check" if len(self.checks) == 1 else f"{len(self.checks)} checks"
            return f"{head}, {checks}"
        worst = max(self.claims, key=lambda one: one.lower_bound or 0.0)
        loss = "loss" if worst.exact is not None else "loss at least"
        promise = worst.promise
        if not promise.approximate:
            loss = promise.symbol if worst.exact is not None else f"{promise.symbol} at least"
        return f"{head}, {loss} {worst.lower_bound or 0.0:.4g}, {promise.value:.4g} claimed"

    def summary(self) -> str:
        """Return what the command line prints of it."""
        from io import StringIO

        from rich.console import Console

        from pdpaudit.report.terminal import show_audit, show_check

        text = StringIO()
        # A notebook is no reason to show what is only asked for as text.
        console = Console(
            file=text,
            width=WIDTH,
            color_system=None,
            force_terminal=False,
            force_jupyter=False,
        )
        console.print(self._line(), markup=False, highlight=False)
        if self.claims:
            show_audit(console, self)  # type: ignore[arg-type]  # a Result is all that there is
        for check in self.checks:
            show_check(console, check)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def report(self, path: str | Path) -> Path:
        """Write a report for people, as HTML or, where the name ends in .md, as Markdown.

        Raises
        ------
        InputError
            If the name has another ending, or the file cannot be written.
        """
        from pdpaudit.core.errors import InputError
        from pdpaudit.report.html import render_html
        from pdpaudit.report.markdown import render_markdown
        from pdpaudit.report.sources import source_from_json
        from pdpaudit.results.results import write_text

        path = Path(path)
        render = {".html": render_html, ".htm": render_html, ".md": render_markdown}
        if path.suffix.lower() not in render:
            raise InputError(f"{path}: end the name in .html or .md")
        source = source_from_json(self.to_json(), self.subject)
        write_text(path, render[path.suffix.lower()]([source]))
        return path
