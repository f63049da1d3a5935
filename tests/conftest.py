"""What holds for every test: hypothesis takes its time on a busy machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
