"""The importable names that a foreign contract lends to its files: put first on the import path, inside workers only.

Above: the contracts' `product`. Below: Python's import system. It refuses to know: what the names do, and what is said of those
that are not lent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any, cast


def lend(folder: str, package: str, sentence: Callable[[str], str]) -> None:
    """Make the package in this folder importable, ahead of an installed one; `sentence` says what is not in it."""
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)
    if not any(isinstance(finder, _Missing) and finder.package == package for finder in sys.meta_path):
        sys.meta_path.append(cast("Any", _Missing(package, sentence)))


class _Missing:
    """Answers, after every other finder, for what is not there; a finder in all but name."""

    def __init__(self, package: str, sentence: Callable[[str], str]) -> None:
        self.package = package
        self._sentence = sentence

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Nothing for other packages. Raises ModuleNotFoundError for a module of this one."""
        if fullname.startswith(f"{self.package}."):
            raise ModuleNotFoundError(self._sentence(fullname), name=fullname)
        return None
