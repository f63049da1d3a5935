"""The first file that a Python of the tools' environment runs: it finds Etui by its place and goes on as a zygote or a worker.

Started as `python -I boot.py zygote|worker DESCRIPTOR...`. The tools' environment does not hold Etui, and the host's libraries
must not come in with it, so the package is loaded from its own folder and `sys.path` stays as it is.
Above: `forks` and `spawn` start it. Below: nothing but the standard library until Etui is loaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def load() -> None:
    """Make `import etui` work, here and in workers, without a word about it on `sys.path`."""
    if "etui" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location("etui", PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)])
    if spec is None or spec.loader is None:
        raise ImportError(f"Etui is not where it was started from: {PACKAGE}")
    package = importlib.util.module_from_spec(spec)
    sys.modules["etui"] = package
    spec.loader.exec_module(package)


def main(arguments: list[str]) -> None:
    """Go on as what the first argument says."""
    load()
    role, *rest = arguments
    module = importlib.import_module("etui.run.zygote" if role == "zygote" else "etui.run.alone")
    module.main(rest)


if __name__ == "__main__":
    main(sys.argv[1:])
