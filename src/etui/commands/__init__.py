"""What a shell command or a piece of Python does, as far as its text shows: does it only read here, could it destroy?

Above: `confirming` decides by it whether a person is asked, `contracts/kotoba` offers it to tools. Below: the standard library.
It refuses to know: who wants to run it. What cannot be read for certain counts as the worse; the kernel's confinement stands
behind every answer, so that a trick in the text opens nothing that the worker was not granted.
"""

from __future__ import annotations

from etui.commands.harm import destroys
from etui.commands.python import code_harms
from etui.commands.reading import READERS, only_reads
from etui.commands.saving import can_be_saved, runs_another
from etui.commands.words import LONGEST, family, is_plain, program, words

__all__ = [
    "LONGEST",
    "READERS",
    "can_be_saved",
    "code_harms",
    "destroys",
    "family",
    "is_plain",
    "only_reads",
    "program",
    "runs_another",
    "words",
]
