"""One error budget over everything a command confirms, split evenly (Bonferroni).

Lower bounds computed at the level of a share are all valid at once, and so are the verdicts that
follow from them.
"""

from dataclasses import dataclass

from pdpaudit.core.errors import InputError


@dataclass(frozen=True)
class ErrorBudget:
    """The probability of any false alarm in a command, and how many things share it."""

    alpha: float
    confirmed: int = 1

    def __post_init__(self) -> None:
        """Check the level and the count."""
        if not 0.0 < self.alpha < 1.0:
            raise InputError(f"alpha must lie strictly between 0 and 1, got {self.alpha!r}")
        if self.confirmed < 1 or self.confirmed != int(self.confirmed):
            raise InputError(f"at least one thing must be confirmed, got {self.confirmed!r}")

    @property
    def share(self) -> float:
        """Error level of each bound, such that all hold together with probability 1 - alpha."""
        return self.alpha / self.confirmed

    def describe(self) -> str:
        """Return the budget in one line for the terminal."""
        if self.confirmed == 1:
            return f"false alarm at most {100 * self.alpha:.4g}%, all on one confirmed bound"
        return (
            f"false alarm at most {100 * self.alpha:.4g}% over all {self.confirmed} confirmed "
            f"bounds together, {100 * self.share:.4g}% each (Bonferroni)"
        )
