"""What holds for every test: hypothesis tries the same examples each time, and other ones with FRESH=1, as before a release.

It takes its time on a busy machine.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not os.environ.get("FRESH")
)
settings.load_profile("house")
