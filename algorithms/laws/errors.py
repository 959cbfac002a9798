"""The error of a law that cannot be computed exactly."""


class LawUnavailable(ValueError):
    """No exact law within the stated limits; sample instead, or relax the named limit.

    Examples
    --------
    >>> issubclass(LawUnavailable, ValueError)
    True
    """
