"""Audits as tests: what a test-suite imports.

Nothing here is imported until it is used, so that test modules stay quick to collect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Unpack

    from pdpaudit.checks import Options
    from pdpaudit.core.claim import PrivacyClaim
    from pdpaudit.core.network import Network
    from pdpaudit.results.results import Result
    from pdpaudit.testing.assertion import Plan

__all__ = [
    "AuditFailed",
    "PoorPower",
    "assert_private",
    "assert_statistic",
    "parametrize_with_checks",
]


class AuditFailed(AssertionError):
    """A claim is broken, a loss has grown, or a statistic is not what it declares."""


class PoorPower(UserWarning):
    """A claim stands only because the test was blind."""


def assert_private(
    mechanism: object,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: PrivacyClaim | str | None = None,
    networks: Network | Sequence[Network] | None = None,
    max_degree: int | None = None,
    **plan: Unpack[Plan],
) -> Result:
    """Try to break a mechanism's privacy claim, and fail if that succeeds.

    Parameters
    ----------
    mechanism : Mechanism, class or str
        An object with ``run(instance, rng)``, a class that is made without arguments, or a name
        as on the command line.
    epsilon, delta : float, optional
        The claim to test, ε in nats; default: what the test's marker ``pdp_audit`` says, else
        what the mechanism claims. With ``epsilon`` alone, ``delta`` is 0.
    claim : PrivacyClaim or str, optional
        A claim in another unit, such as ``PrivacyClaim.zcdp(0.5)`` or ``"zcdp:0.5"``.
    networks : Network or sequence of Network, optional
        Where to look for pairs; default: planted instances and embedded real networks.
    max_degree : int, optional
        Public bound on every degree.
    samples : int, optional
        Fresh samples a side for each claim; default: the marker's, the session's, else the exact
        law where there is one, and stages that end once enough is known where there is none.
    seed : int, optional
        Root of all randomness; default: of the test's name and the session's seed.
    time_limit : float, optional
        Seconds after which the audit ends with what it has; default: the session's.
    relation : str, optional
        Which inputs of its domain are neighbours; default: the first that the domain knows.
    domain : Domain or Network, optional
        What its inputs are, of :mod:`pdpaudit.relations`; default: the mechanism's own.
    python : str, optional
        Path of another interpreter that makes and runs the named mechanism.
    d_in : float, optional
        Distance between two neighbouring inputs of a library's object; see its adapter.

    Returns
    -------
    Result
        With one claim for each promise.

    Raises
    ------
    AuditFailed
        If a claim is violated, cannot be judged, or leaks more than the session's baseline says.
    InputError
        If the request makes no sense.

    Warns
    -----
    PoorPower
        If no violation was found, and few could have been.

    Notes
    -----
    Within pytest a test shares one budget of false positives with all others that audit, and its
    randomness comes from its name and ``--pdp-seed``.

    Examples
    --------
    >>> assert_private("SFS").status
    'not_rejected'
    """
    __tracebackhide__ = True
    from pdpaudit.core.errors import InputError, refuse_unknown
    from pdpaudit.testing.assertion import Plan, judge_mechanism

    refuse_unknown("assert_private", plan, Plan.__optional_keys__)
    try:
        claimed = (epsilon, delta, claim)
        result, broken, blind = judge_mechanism(mechanism, claimed, networks, max_degree, plan)
    except InputError as error:  # what is to be read is what it says, and not where it was seen
        raise error.with_traceback(None) from error.__cause__
    if broken:
        raise AuditFailed(broken)
    if blind:
        import warnings

        warnings.warn(blind, PoorPower, stacklevel=2)
    return result


def assert_statistic(sop: object, *, options: Options | None = None) -> Result:
    """Check all that a statistic of proximity declares, and fail if any of it is not so.

    Parameters
    ----------
    sop : StatisticOfProximity, class or str
        The statistic, a class that makes one without arguments, or a name as on the command line.
    options : Options, optional
        How far to go, and which checks; see :class:`pdpaudit.checks.Options`.

    Returns
    -------
    Result
        With one entry for each check.

    Raises
    ------
    AuditFailed
        If a check is violated or ends in an error, with a smallest counterexample.
    InputError
        If it is no statistic.

    Examples
    --------
    >>> from pdpaudit.checks import Options
    >>> result = assert_statistic("CN", options=Options(max_vertices=3, examples=0))
    >>> [check.status for check in result.checks if check.name == "targeted-sensitivity"]
    ['certified']
    """
    __tracebackhide__ = True
    from pdpaudit.core.errors import InputError
    from pdpaudit.testing.assertion import judge_statistic

    try:
        result, broken = judge_statistic(sop, options)
    except InputError as error:
        raise error.with_traceback(None) from error.__cause__
    if broken:
        raise AuditFailed(broken)
    return result


def parametrize_with_checks(
    sops: Sequence[object],
    *,
    expected_failures: Mapping[str, Mapping[str, str]] | None = None,
    options: Options | None = None,
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Parametrise a test with every check of every statistic, as argument ``check``.

    Parameters
    ----------
    sops : sequence of StatisticOfProximity or classes
        The statistics.
    expected_failures : mapping, optional
        By the statistic's name, the checks known to fail, each with the reason; they become
        strict xfails.
    options : Options, optional
        How far to go, and which checks.

    Returns
    -------
    callable
        A pytest mark.

    Raises
    ------
    InputError
        If one is not a statistic, or a check is named that there is not.

    Examples
    --------
    >>> from pdpaudit.algorithms.statistics import CN
    >>> @parametrize_with_checks([CN])
    ... def test_my_statistics(check):
    ...     check()
    """
    from pdpaudit.testing.assertion import checks_as_tests

    return checks_as_tests(sops, expected_failures=expected_failures, options=options)
