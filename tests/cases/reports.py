"""Which public report of a fault is bound to which tests: sections A to F and N of what the house was built against.

The tests in this folder carry the ids in their docstrings; `ELSEWHERE` names the tests of other rooms that ask the same thing.
`test_reports.py` holds that every report has tests, and that every test named here exists.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent

REPORTS: Mapping[str, str] = {
    "R001": "a missing setting of one plugin breaks the catalogue for all",
    "R002": "a load failure is swallowed or shown as something else",
    "R004": "one broken file stops the files after it",
    "R005": "a reload runs the new entry file with the old helpers",
    "R007": "a failed load leaves half of itself behind",
    "R008": "a reload acts on a file that is half written",
    "R010": "a missing package stops the start, or is installed unasked",
    "R011": "discovery looks at the text instead of the objects",
    "R013": "ending the program ends the host",
    "R014": "a circular import is read half-initialised and misnamed",
    "R016": "a name is too long once a client has put its prefix before it",
    "R017": "a name is legal for one provider only",
    "R019": "two tools of one name go to the model",
    "R020": "a newcomer takes a name and the trust that belongs to it",
    "R022": "an unknown name is answered without a way forward",
    "R023": "a name is called with another separator or case",
    "R025": "names of Python types leak into the schema",
    "R026": "a free-form object is refused because one provider is strict",
    "R028": "a schema holds references",
    "R029": "one bad schema discards the whole list",
    "R031": "a list without items is refused",
    "R032": "something is required that is not there",
    "R034": "an injected parameter is shown to the model",
    "R035": "a parameter vanishes without a word",
    "R037": "descriptions of parameters are lost",
    "R038": "foreign keys are passed on",
    "R040": "empty text is taken for broken arguments",
    "R041": "an oddity that was let through breaks the turns after it",
    "R043": "arguments that were encoded twice are taken for none",
    "R044": "repair changes text that looks like JSON",
    "R046": "an unreadable boolean is taken for false",
    "R047": "numbers that are not finite pass the checks",
    "R049": "a number for a text is refused",
    "R050": "made-up arguments reach the function",
    "R052": "calls come without ids",
    "R053": "a ghost of a call poisons the history",
    "R055": "calls of a stream all claim the first place",
    "R056": "calls of a stream have no place",
    "R058": "a call stands in the words",
    "R059": "words that mention a call are taken for one",
    "R061": "a call that was cut off is accepted",
    "R062": "null, empty and absent words are not treated alike",
    "R064": "a blocking tool freezes the loop",
    "R065": "a time limit ends the waiting and not the work",
    "R067": "one limit for all, and errors without words",
    "R068": "a time limit leaves the tool's children",
    "R070": "plugins see each other's settings",
    "R071": "calls see each other's values",
    "R073": "a stop waits for the work to end",
    "R074": "long work is tied to the life of the request",
    "R136": "a link leads out of the folder",
    "R137": "a link is swapped in between check and use",
}
"""Id and the kind of fault, in our words."""

ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "R004": ("house/test_load.py::test_a_pipe_with_the_name_of_a_tool_file_holds_nobody_up",),
    "R005": ("contracts/test_etui_reading.py::test_stale_bytecode_is_not_read",),
    "R008": (
        "spine/test_main_job.py::test_a_broken_edit_leaves_the_last_good_version_serving_and_shows_the_error_with_file_and_line",
    ),
    "R017": ("contracts/test_etui_reading.py::test_every_offered_name_satisfies_the_strictest_rule",),
    "R022": ("agent/test_loop.py::test_an_unknown_tool_is_answered_with_the_nearest_and_repeats_end_the_turn",),
    "R025": ("contracts/test_etui_schemas.py::test_each_kind_of_hint",),
    "R026": (
        "contracts/test_etui_schemas.py::test_open_objects_take_what_comes",
        "agent/test_schemas.py::test_an_odd_schema_is_made_fit_for_every_target",
    ),
    "R028": ("contracts/test_etui_schemas.py::test_records_are_written_out_and_arrive_as_they_were_declared",),
    "R031": ("agent/test_schemas.py::test_an_odd_schema_is_made_fit_for_every_target",),
    "R032": ("agent/test_schemas.py::test_any_schema_becomes_one_of_an_object",),
    "R034": ("contracts/test_etui_schemas.py::test_a_context_is_given_and_never_shown",),
    "R037": ("contracts/test_etui_schemas.py::test_docstrings_of_every_style_describe_the_parameters",),
    "R038": ("agent/test_schemas.py::test_an_odd_schema_is_made_fit_for_every_target",),
    "R044": ("test_arguments.py::test_text_parameters_receive_exactly_the_text",),
    "R047": ("test_arguments.py::test_what_cannot_be_repaired_without_loss_is_refused_with_what_was_expected",),
    "R052": ("agent/test_history.py::test_missing_ids_are_made_and_each_result_lands_on_its_own_call",),
    "R053": ("agent/test_history.py::test_ghosts_and_orphans_are_dropped_and_the_words_survive",),
    "R055": ("agent/test_servers.py::test_the_dialects_of_local_servers",),
    "R056": ("agent/test_servers.py::test_the_dialects_of_local_servers",),
    "R062": ("agent/test_servers.py::test_each_server_gets_missing_words_in_the_form_it_takes",),
    "R065": ("run/test_native.py::test_forty_hung_calls_each_end_in_time_and_a_quick_one_answers_at_once",),
    "R068": ("run/test_misbehaviour.py::test_on_a_timeout_the_whole_tree_is_killed",),
    "R136": (
        "test_jail.py::test_links_are_not_followed",
        "test_jail.py::test_hard_links_are_refused",
        "test_jail.py::test_no_name_reaches_outside",
    ),
    "R137": ("test_jail.py::test_no_swap_at_any_moment_lets_the_secret_out",),
}
"""Tests of other rooms, by their place below `tests/`."""


def here() -> dict[str, list[str]]:
    """Ids that the docstrings of this folder's tests carry, each with those tests."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for function in _functions(path):
            for report in re.findall(r"\bR\d{3}\b", ast.get_docstring(function) or ""):
                found.setdefault(report, []).append(f"cases/{path.name}::{function.name}")
    return found


def exists(test: str) -> bool:
    """Whether there is a test at that place below `tests/`."""
    place, _, name = test.partition("::")
    path = TESTS / place
    return path.is_file() and any(function.name == name for function in _functions(path))


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.parse(path.read_bytes()).body if isinstance(node, kinds) and node.name.startswith("test_")]
