"""The promise that an audit tests."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PrivacyClaim"]


@dataclass(frozen=True)
class PrivacyClaim:
    """The promise to be tested: (ε, δ)-protected differential privacy.

    Attributes
    ----------
    epsilon : float
        Privacy loss in nats.
    delta : float
        Additive slack, 0 for the pure form.
    source : str
        Theorem or lemma that makes the promise.

    Raises
    ------
    ValueError
        If ``epsilon`` is negative or not a number, or ``delta`` is outside [0, 1).

    Examples
    --------
    >>> PrivacyClaim(1.0, source="Theorem 1")
    PrivacyClaim(epsilon=1.0, delta=0.0, source='Theorem 1')
    """

    epsilon: float
    delta: float = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        if not self.epsilon >= 0:
            raise ValueError(f"epsilon = {self.epsilon}: a claim needs epsilon >= 0")
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta = {self.delta}: a claim needs 0 <= delta < 1")
