"""Settings for all tests, those in docstrings included."""

from hypothesis import HealthCheck, settings

# Machines are shared and noisy: an example that is slow once is no failure.
settings.register_profile("pdpaudit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pdpaudit")

pytest_plugins = ["pytester"]
