"""The names that tool files import, and what a file of them is read as: decorator, checks, registry, folder, settings."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import logging
import os
import stat
from contextvars import ContextVar
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.keryx.homes import MOON, keryx, payload, save, tool, tools, wire

from etui.contracts import Files
from etui.contracts.keryx import settings as host_settings
from etui.outcome import Status
from etui.tool import Risk

DEFAULT = {"type": "object", "properties": {}}


async def handler(ctx, args):
    return {"ok": True}


def refused(path, text, plugin="plugin"):
    return tools(path, text, plugin).refusals


def stub(trust, **more):
    return SimpleNamespace(trust=trust, session=SimpleNamespace(trust=trust, authorized=False, session_id="0a1b2c3d", **more))


# What is importable, and what is not.


@pytest.mark.promise("X112", "X101", "X223", "X235", "X001", "X012")
def test_a_file_may_import_every_name_that_keryx_documents(tmp_path):
    head = """
    from keryx.config import Settings, load_settings
    from keryx.tools import ToolContext, ToolRegistry
    from keryx.tools.builtin import BUILTIN_TOOL_NAMES
    from keryx.tools.builtin_common import pin_gate, possession_gate, read_gate
    from keryx.tools.custom import (
        DEFAULT_TIMEOUT_S, LOADING_SETTINGS, CustomHandler, CustomTool, Loaded, ToolUnavailable, load_custom_tools,
        register_custom_tools,
    )
    from keryx.tools.registry import ToolContext as SameContext, ToolRegistry as SameRegistry
    from keryx.trust import TrustLevel
    from keryx.tools.custom import Settings as OfLoader, ToolContext as OfHandler, ToolRegistry as OfCall, pin_gate as gate
    from keryx.tools.registry import TrustLevel as Level

    assert (OfLoader, OfHandler, OfCall, gate, Level) == (Settings, ToolContext, ToolRegistry, pin_gate, TrustLevel)
    assert DEFAULT_TIMEOUT_S == 20.0 and type(DEFAULT_TIMEOUT_S) is float
    assert (SameContext, SameRegistry) == (ToolContext, ToolRegistry)
    assert isinstance(load_settings(), Settings)
    """
    file = tools(tmp_path, tool(head=head))
    assert (file.refusals, set(file.tools)) == ([], {"x"})


@pytest.mark.promise("X223")
def test_trust_has_three_levels():
    from keryx.trust import TrustLevel

    assert issubclass(TrustLevel, IntEnum)
    assert {level.name: level.value for level in TrustLevel} == {"NONE": 0, "POSSESSION": 1, "FULL": 2}


@pytest.mark.promise("X235")
def test_seventeen_names_are_reserved_in_keryxs_order(tmp_path):
    from keryx.tools.builtin import BUILTIN_TOOL_NAMES

    assert list(BUILTIN_TOOL_NAMES) == [
        *("web_search", "dispatch_task", "list_tasks", "get_task_status", "get_task_result", "mark_reported", "recall"),
        *("send_followup", "cancel_task", "list_projects", "request_callback", "restart_service", "list_pending_approvals"),
        *("answer_approval", "set_config", "submit_pin", "end_session"),
    ]
    text = "\n".join(tool(name=name) for name in BUILTIN_TOOL_NAMES)
    assert refused(tmp_path, text) == [f"{name!r} is already a tool's name" for name in BUILTIN_TOOL_NAMES]


@pytest.mark.promise("X025", "X270", "X274", "X275", "X276", "X277", "X278", "X279", "X280", "X281", "X282", "X283", "X284")
@pytest.mark.promise(
    "X323", "X324", "X325", "X326", "X327", "X328", "X329", "X330", "X331", "X332", "X333", "X334", "X335", "X347"
)
@pytest.mark.parametrize(
    "line",
    [
        "from keryx.plugins.slack import send_to_slack_tool",
        "from keryx.plugins.email import check_email_tool",
        "from keryx.plugins.billing import check_billing_tool",
        "from keryx.plugins.cluster import cluster_stats_tool",
        "import keryx.plugins",
        "import keryx.integrations.cluster",
        "from keryx.integrations import gmail",
    ],
)
def test_keryxs_own_plugins_are_not_offered_and_the_refusal_says_so(tmp_path, line):
    file = tools(tmp_path, tool(head=line))
    (problem,) = file.description.problems
    name = f"keryx.{line.split('keryx.')[1].split('.')[0].split()[0]}"
    said = "belongs to Keryx's own plugins (Slack, e-mail, billing, cluster), which are not offered here"
    assert problem.reason == f"ModuleNotFoundError: {name} {said}"
    assert "`etui plugins list`" in problem.hint
    assert (file.tools, problem.line, problem.file) == ({}, 1, str(file.folder / "main.py"))


def test_what_else_belongs_to_keryx_says_so_and_an_old_name_is_told_the_new_one(tmp_path):
    (first,) = tools(tmp_path, tool(head="import keryx.session"), "a").description.problems
    assert first.reason == "ModuleNotFoundError: keryx.session belongs to Keryx itself and is not offered here"
    (second,) = tools(tmp_path, MOON.replace("keryx", "jarvis"), "b").description.problems
    assert second.reason == "ModuleNotFoundError: No module named 'jarvis'"
    assert "`keryx`" in second.hint
    caught = "try:\n    import keryx.session\nexcept ImportError:\n    pass"
    assert refused(tmp_path, tool(head=caught), "c") == []


# The decorator and what it makes.


@pytest.mark.promise("X062", "X063", "X064", "X065", "X066", "X067", "X038", "X314", "X104", "X106", "X107", "X055")
def test_the_decorator_is_keryxs_to_the_letter():
    from keryx.tools.custom import CustomTool, custom_tool

    found = inspect.signature(custom_tool).parameters.values()
    keyword, either = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert [(one.name, one.kind, one.default) for one in found] == [
        ("name", either, None),
        ("description", keyword, inspect.Parameter.empty),
        ("parameters", keyword, None),
        ("needs_pin", keyword, True),
        ("silent", keyword, False),
        ("timeout_s", keyword, 20.0),
    ]
    assert custom_tool("x", description="d")(handler).name == "x"
    with pytest.raises(TypeError):
        custom_tool("x", "d")
    plain = custom_tool(description="d")(handler)
    assert isinstance(plain, CustomTool)
    assert dataclasses.is_dataclass(CustomTool)
    assert (plain.name, plain.needs_pin, plain.silent, plain.timeout_s) == ("handler", True, False, 20.0)
    assert plain.parameters == DEFAULT
    assert custom_tool("", description="d", parameters={})(handler).name == "handler"
    assert custom_tool(description="d", parameters={})(handler).parameters == DEFAULT
    odd = custom_tool(description="", timeout_s=-1)(handler)
    assert (odd.description, odd.timeout_s) == ("", -1)


@pytest.mark.promise("X103", "X108", "X109", "X110", "X056")
def test_a_custom_tool_is_a_frozen_record_and_no_function():
    from keryx.tools.custom import CustomTool, custom_tool

    made = CustomTool("n", "d", {}, handler)
    assert [field.name for field in dataclasses.fields(CustomTool)] == [
        *("name", "description", "parameters", "handler", "needs_pin", "silent", "timeout_s"),
    ]
    assert (made.needs_pin, made.silent, made.timeout_s) == (True, False, 20.0)
    assert "handler" not in repr(made)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "m"
    decorated = custom_tool(description="d")(handler)
    assert not callable(decorated)
    assert decorated.handler is handler


@pytest.mark.promise("X057", "X058", "X059", "X024")
def test_a_file_can_refuse_itself_in_its_own_words(tmp_path):
    from keryx.tools.custom import ToolUnavailable

    assert ToolUnavailable.__bases__ == (Exception,)
    text = tool() + "from keryx.tools.custom import ToolUnavailable\nraise ToolUnavailable('say this')\n"
    file = tools(tmp_path, text)
    assert (file.refusals, file.tools) == (["say this"], {})


# A file, read.


@pytest.mark.promise("X013", "X001", "X010", "X289", "X056")
async def test_the_pages_example_is_one_tool_and_answers(tmp_path):
    file = tools(tmp_path, MOON)
    (moon,) = file.description.tools
    assert (moon.name, moon.parameters, moon.pin, moon.timeout) == ("moon_phase", DEFAULT, False, 20.0)
    assert moon.description == "Say the phase of the moon tonight. Answer in one sentence."
    assert await payload(file, "moon_phase") == {"phase": "waxing gibbous"}


@pytest.mark.promise("X011", "X012", "X069", "X135", "X290", "X132", "X131")
async def test_tools_come_in_the_order_of_their_definition_and_are_found_by_what_they_are(tmp_path):
    text = f"""
from keryx.tools.custom import CustomTool
{tool(name="first")}
{tool(name="two", options='"renamed", description="d", needs_pin=False')}
{tool(name="_inner")}
_x = CustomTool("built", "d", {{"type": "object", "properties": {{}}}}, lambda ctx, args: {{"built": True}}, False)

def plain(ctx, args):
    return 1
"""
    file = tools(tmp_path, text)
    assert [one.name for one in file.description.tools] == ["first", "renamed", "_inner", "built"]
    assert await payload(file, "first") == {"ok": True}
    assert await payload(file, "built") == {"built": True}
    assert file.refusals == []


@pytest.mark.promise("X111")
async def test_a_tool_that_was_built_directly_is_gated_and_answers_at_full_trust(tmp_path):
    made = "CustomTool('n', 'd', {'type': 'object', 'properties': {}}, lambda c, a: {'n': 1})"
    text = f"from keryx.tools.custom import CustomTool\nx = {made}"
    async with keryx(tmp_path, {"n.py": text}) as room:
        phone = await room.open("phone")
        assert (await room.payload(phone, "n"))["status"] == "refused"
        phone.authorize()
        assert await room.payload(phone, "n") == {"n": 1}


@pytest.mark.promise("X133")
def test_a_tool_that_comes_from_an_import_counts(tmp_path, monkeypatch):
    (tmp_path / "pkg_of_tools.py").write_text(tool(name="ready_made"))
    monkeypatch.syspath_prepend(tmp_path)
    file = tools(tmp_path, "from pkg_of_tools import ready_made")
    assert (set(file.tools), file.refusals) == ({"ready_made"}, [])


@pytest.mark.promise("X134", "X135")
async def test_of_two_equal_names_the_first_stays_and_the_second_is_refused(tmp_path):
    file = tools(tmp_path, tool(name="a") + "b = a\n", "one")
    assert (set(file.tools), file.refusals) == ({"a"}, ["'a' is already a tool's name"])
    same = "".join(tool(f"return {number}", name=f"f{number}", options='"same", description="d"') for number in (1, 2))
    file = tools(tmp_path, same, "two")
    assert (list(file.tools), file.refusals) == (["same"], ["'same' is already a tool's name"])
    assert await payload(file, "same") == {"result": 1}


@pytest.mark.promise("X022", "X102", "X064", "X105", "X129", "X149", "X023", "X293", "X173", "X166", "X167")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def broken(:\n", "SyntaxError: "),
        ("X = 1\n", "defines no tool (decorate a function with @custom_tool)"),
        ("raise KeyError('k')\n", "KeyError: 'k'"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt: "),
        ("from keryx.tools.custom import custom_tool\n@custom_tool\ndef x(c, a): ...\n", "TypeError: "),
        ("from keryx.tools.custom import custom_tool\n@custom_tool(needs_pin=False)\ndef x(c, a): ...\n", "TypeError: "),
        (
            "import functools\nfrom keryx.tools.custom import custom_tool\n"
            "x = custom_tool(description='d')(functools.partial(print))\n",
            "AttributeError: ",
        ),
        ("import nosuchpkg_zz\n", "ModuleNotFoundError: No module named 'nosuchpkg_zz'"),
        ("from . import helper\n", "ModuleNotFoundError: No module named 'keryx_custom_tools'"),
        ("import _helper\n", "ModuleNotFoundError: No module named '_helper'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_does_not_load_is_one_refusal_in_keryxs_words(tmp_path, text, reason):
    file = tools(tmp_path, {"main.py": text, "_helper.py": "raise ValueError"})
    ((found),) = file.refusals
    assert found.startswith(reason)
    assert "description" in found or reason != "TypeError: "
    assert file.tools == {}


@pytest.mark.promise("X136", "X137", "X146", "X147", "X148", "X145", "X138", "X139", "X140", "X141", "X043", "X142")
@pytest.mark.promise("X294", "X296", "X297", "X298", "X299", "X300")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("'has space', description='d'", "'has space' is not a valid tool name (letters, digits, _ and -)"),
        ("'mañana', description='d'", "'mañana' is not a valid tool name (letters, digits, _ and -)"),
        ("'moon\\n', description='d'", "'moon\\n' is not a valid tool name (letters, digits, _ and -)"),
        (f"{'a' * 65!r}, description='d'", f"{'a' * 65!r} is not a valid tool name (letters, digits, _ and -)"),
        ("7, description='d'", "7 is not a valid tool name (letters, digits, _ and -)"),
        ("'submit_pin', description='d'", "'submit_pin' is already a tool's name"),
        ("description='  '", "'x' has no description"),
        ("description=None", "'x' has no description"),
        ("description=7", "'x' has no description"),
        ("description='d', needs_pin='no'", "'x': needs_pin must be True or False"),
        ("description='d', needs_pin=1", "'x': needs_pin must be True or False"),
        ("description='d', needs_pin=None", "'x': needs_pin must be True or False"),
        ("description='d', needs_pin=TrustLevel.POSSESSION", "'x': needs_pin must be True or False"),
        ("description='d', parameters={'type': 'string'}", "'x': parameters must be a JSON-schema object"),
        ("description='d', parameters=['a']", "'x': parameters must be a JSON-schema object"),
        ("description='d', parameters={'properties': {}}", "'x': parameters must be a JSON-schema object"),
        ("description='d', parameters={'type': 'object', (1, 2): 3}", "'x': parameters must be a JSON-schema object"),
        ("description='d', timeout_s=0", "'x': timeout_s must be positive"),
        ("description='d', timeout_s=-1", "'x': timeout_s must be positive"),
        ("description='d', timeout_s='5'", "'x': timeout_s must be positive"),
        ("description='d', timeout_s=float('nan')", "'x': timeout_s must be positive"),
        ("description='d', timeout_s=None", "'x': timeout_s must be positive"),
        # The first check that fails has the word.
        (
            "'has space', description='', needs_pin=1, parameters=[1], timeout_s=0",
            "'has space' is not a valid tool name (letters, digits, _ and -)",
        ),
        ("'recall', description='', needs_pin=1, parameters=[1], timeout_s=0", "'recall' is already a tool's name"),
        ("description='', needs_pin=1, parameters=[1], timeout_s=0", "'x' has no description"),
        ("description='d', needs_pin=1, parameters=[1], timeout_s=0", "'x': needs_pin must be True or False"),
        ("description='d', parameters=[1], timeout_s=0", "'x': parameters must be a JSON-schema object"),
    ],
)
def test_a_tool_that_fails_a_check_costs_itself_alone(tmp_path, options, reason):
    text = tool(options=options, head="from keryx.trust import TrustLevel") + tool(name="good")
    file = tools(tmp_path, text)
    assert (file.refusals, list(file.tools)) == ([reason], ["good"])


@pytest.mark.promise("X138", "X142", "X144", "X143")
def test_what_passes_the_checks_is_offered_unchanged(tmp_path):
    options = {
        "a" * 64: "parameters={'type': 'object', 'x-odd': 1}, silent='yes'",
        "a-b_1": "timeout_s=float('inf')",
        "-": "timeout_s=True",
        "7": "timeout_s=10**400",
    }
    text = "".join(
        tool(name=f"f{n}", options=f"{name!r}, description='d', {rest}") for n, (name, rest) in enumerate(options.items())
    )
    file = tools(tmp_path, text)
    assert (file.refusals, list(file.tools)) == ([], list(options))
    assert file.tools["a" * 64].parameters == {"type": "object", "x-odd": 1}
    assert asyncio.run(payload(file, "a" * 64)) == {"ok": True}
    assert [one.timeout for one in file.tools.values()] == [20.0, None, 1.0, None]


def test_fields_of_a_strange_make_are_one_refusal_each(tmp_path):
    text = """
from keryx.tools.custom import CustomTool

class Strange:
    def __bool__(self): raise ValueError
    def __repr__(self): raise ValueError
    def __gt__(self, other): raise ValueError
    def strip(self): raise ValueError
    def get(self, *names): raise ValueError

S = Strange()
a = CustomTool(S, "d", {"type": "object"}, print)
b = CustomTool("b", S, {"type": "object"}, print)
c = CustomTool("c", "d", S, print)
d = CustomTool("d", "d", {"type": "object"}, print, timeout_s=S)
e = CustomTool("e", "d", {"type": "object", "default": S}, None)
f = CustomTool("f", "d", {"type": "object"}, print, silent=S)
g = CustomTool(["g"], "d", {"type": "object"}, print)
"""
    file = tools(tmp_path, text)
    assert file.refusals == [
        "a Strange is not a valid tool name (letters, digits, _ and -)",
        "'b' has no description",
        "'c': parameters must be a JSON-schema object",
        "'d': timeout_s must be positive",
        "'e': parameters must be a JSON-schema object",
        "['g'] is not a valid tool name (letters, digits, _ and -)",
    ]
    assert list(file.tools) == ["f"]
    assert file.tools["f"].silent is False, "where it cannot say, it speaks"


def test_a_tool_that_does_not_let_itself_be_looked_at_costs_itself_alone(tmp_path):
    text = """
from keryx.tools.custom import CustomTool

class Hides(CustomTool):
    def __getattribute__(self, name):
        if name == "description": raise ValueError("hidden")
        return object.__getattribute__(self, name)

class Broken(CustomTool):
    @property
    def examples(self): raise ValueError("broken")

a = object.__new__(CustomTool)
b = Hides("b", "d", {"type": "object"}, print)
c = Broken("c", "d", {"type": "object"}, print)
"""
    file = tools(tmp_path, text + tool(name="good"))
    assert file.refusals == [
        "'CustomTool': it cannot be looked at (AttributeError: 'CustomTool' object has no attribute 'name')",
        "'b': it cannot be looked at (ValueError: hidden)",
        "'c': it cannot be described (ValueError: broken)",
    ]
    assert list(file.tools) == ["good"]


@pytest.mark.promise("X142", "X021")
async def test_texts_of_another_make_and_numbers_of_any_size_are_what_they_say(tmp_path):
    text = """
from enum import Enum, StrEnum
from keryx.tools.custom import CustomTool

class Old(str, Enum): NAME = "old"
class New(StrEnum): NAME = "new"
class Text(str):
    def __hash__(self): raise ValueError
    def __repr__(self): raise ValueError
    def strip(self): raise ValueError

FITS = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 10**30, "minimum": -(2**63)}}}
a = CustomTool(Old.NAME, Old.NAME, FITS, lambda ctx, args: {"n": args["n"]}, False)
b = CustomTool(New.NAME, New.NAME, {"type": "object"}, lambda ctx, args: 1, False)
c = CustomTool(Text("own"), Text("d"), {"type": "object"}, lambda ctx, args: 1, False)
d = CustomTool(Text("not one"), Text("d"), {"type": "object"}, lambda ctx, args: 1, False)
e = CustomTool(New.NAME, "d", {"type": "object", "maximum": 10**999}, lambda ctx, args: 1, False)
"""
    async with keryx(tmp_path, {"x.py": text}) as room:
        session = await room.open()
        assert list(session.own) == ["old", "new", "own"]
        assert [one.description for one in session.own.values()] == ["old", "new", "d"]
        assert session.own["old"].parameters["properties"]["n"] == {"type": "integer", "maximum": 1e30, "minimum": -(2**63)}
        assert await room.payload(session, "old", {"n": 7}) == {"n": 7}
        assert [await room.payload(session, name) for name in ("new", "own")] == [{"result": 1}] * 2
        assert [reason for _, reason, _ in room.problems()] == [
            "'not one' is not a valid tool name (letters, digits, _ and -)",
            "'new' is already a tool's name",
        ]


@pytest.mark.promise("X163", "X164", "X168", "X171")
@pytest.mark.parametrize("stem", ["moon", "my-tool.v2", ".hidden"])
def test_a_file_knows_its_path_and_its_name_and_runs_without_a_loop(tmp_path, stem):
    head = """
    from __future__ import annotations
    import asyncio, sys
    from dataclasses import dataclass
    from pathlib import Path

    @dataclass
    class Point:
        x: int

    async def one():
        return 1

    assert asyncio.run(one()) == 1
    assert sys.modules[__name__].Point is Point
    BESIDE = Path(__file__).with_suffix(".toml").read_text()
    """
    body = "return {'at': [__file__, __name__, BESIDE, Path(__file__).with_suffix('.toml').read_text()]}"
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / f"{stem}.toml").write_text("a = 1")
    file = tools(tmp_path, {f"{stem}.py": tool(body, head=head)})
    assert file.refusals == []
    at = asyncio.run(payload(file))["at"]
    assert at == [str(folder / f"{stem}.py"), f"keryx_custom_tools.{stem}", "a = 1", "a = 1"]


def test_the_bytes_that_were_checked_are_what_runs_and_what_tracebacks_show(tmp_path):
    path = str(tmp_path / "x.py")
    Path(path).write_text("raise ValueError('what lies there now')")
    code = tool("raise ValueError('these bytes')").encode()
    files = Files(plugin="p", source="s", contract="keryx", path=path, files=(path,), code={path: code}, taken=("y",))
    from etui.contracts import find

    description = find("keryx").describe(files)
    assert [one.name for one in description.tools] == ["x"]
    ran = asyncio.run(find("keryx").invoke("x", {}, wire()))
    assert "raise ValueError('these bytes')" in ran.detail
    taken = find("keryx").describe(
        Files(**{**{name: getattr(files, name) for name in files.__struct_fields__}, "taken": ("x",)})
    )
    assert [problem.reason for problem in taken.problems] == ["'x' is already a tool's name"]
    gone = asyncio.run(find("keryx").invoke("x", {}, wire()))
    assert (gone.status, list(json.loads(gone.text))) == (Status.FAILED, ["error"])


def test_a_tools_risk_is_what_its_file_visibly_asks_for(tmp_path):
    heads = {"": Risk.READ, "import httpx": Risk.NETWORK, "import subprocess": Risk.EXEC, "import shelve": Risk.WRITE}
    for number, (head, risk) in enumerate(heads.items()):
        file = tools(tmp_path, tool(head=head), f"p{number}")
        assert (file.tools["x"].risk, file.tools["x"].asks) == (risk, True)
        assert str(file.folder) in file.description.wishes.read


# Settings.


@pytest.mark.promise("X113", "X114", "X052")
async def test_settings_are_there_while_a_file_loads_and_gone_afterwards(tmp_path):
    from keryx.tools.custom import LOADING_SETTINGS, load_custom_tools

    assert isinstance(LOADING_SETTINGS, ContextVar)
    assert (LOADING_SETTINGS.name, LOADING_SETTINGS.get()) == ("loading_settings", None)
    head = "from keryx.tools.custom import LOADING_SETTINGS\nAT = LOADING_SETTINGS.get()"
    text = tool("return {'at': str(AT.data_dir), 'now': LOADING_SETTINGS.get() is None}", head=head)
    path = tmp_path / "x.py"
    files = Files(
        plugin="p",
        source="s",
        contract="keryx",
        path=str(path),
        files=(str(path),),
        code={str(path): text.encode()},
        facts={"data_dir": "/d"},
    )
    from etui.contracts import find

    find("keryx").describe(files)
    assert json.loads((await find("keryx").invoke("x", {}, wire())).text) == {"at": "/d", "now": True}
    host_settings.told({})
    save(
        tmp_path / "tools",
        {"a.py": "from keryx.tools.custom import LOADING_SETTINGS\nraise ValueError(LOADING_SETTINGS.get())"},
    )
    loaded = load_custom_tools(tmp_path / "tools", settings="mine")
    assert [reason for _, reason in loaded.errors] == ["ValueError: mine"]
    assert LOADING_SETTINGS.get() is None


@pytest.mark.promise("X052", "X060", "X007")
async def test_a_file_sees_the_settings_of_the_host_that_loads_it_and_may_wait_for_what_is_missing(tmp_path):
    head = """
    from pathlib import Path
    from keryx.tools.custom import LOADING_SETTINGS, ToolUnavailable

    AT = LOADING_SETTINGS.get()
    KEY = Path(__file__).with_suffix(".key")
    if not KEY.exists():
        raise ToolUnavailable("there is no key yet: put it beside this file")
    """
    body = "return {'at': str(AT.data_dir), 'tools': str(AT.custom_tools_dir), 'key': KEY.read_text()}"
    async with keryx(tmp_path, {"x.py": tool(body, head=head)}) as room:
        first = await room.open()
        assert "x" not in {one.name for one in first.tools()}
        assert ("x.py", "there is no key yet: put it beside this file", True) in room.problems()
        save(room.folder, {"x.key": "k"})
        found = await room.payload(await room.open(), "x")
        assert found == {"at": str(room.folder.parent), "tools": str(room.folder), "key": "k"}


@pytest.mark.promise("X152")
@pytest.mark.parametrize("name", ["send_to_slack", "check_email", "check_billing", "cluster_stats"])
def test_the_names_of_keryxs_own_plugins_are_free(tmp_path, name):
    assert set(tools(tmp_path, tool(name=name)).tools) == {name}


@pytest.mark.promise("X007", "X117", "X288")
def test_settings_know_where_the_tools_lie_and_make_the_folder_their_owners_alone(tmp_path, monkeypatch):
    from keryx.config import Settings, load_settings

    for name in ("DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings().custom_tools_dir == tmp_path / ".local" / "share" / "keryx" / "tools"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "x"))
    assert Settings().data_dir == tmp_path / "x" / "keryx"
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "d"))
    found = load_settings()
    assert (found.data_dir, found.custom_tools_dir) == (tmp_path / "d", tmp_path / "d" / "tools")
    assert Settings(data_dir=tmp_path / "e").custom_tools_dir == tmp_path / "e" / "tools"
    for mode in (None, 0o755):
        if mode:
            found.custom_tools_dir.chmod(mode)
        found.ensure_dirs()
        assert stat.S_IMODE(found.custom_tools_dir.stat().st_mode) == 0o700
    with pytest.raises(AttributeError, match="'openai_api_key' is Keryx's own"):
        _ = found.openai_api_key


@pytest.mark.promise("X234")
def test_settings_say_whether_there_is_a_pin_and_never_which():
    from keryx.config import Settings

    found = Settings(pin="123456", data_dir="/d")
    assert found.pin
    assert bool(found.pin) is True
    assert "123456" not in f"{found!r} {found!s} {vars(found)} {vars(found.pin)}"
    host_settings.told({"has_pin": True, "owner_label": "Ada", "briefing_before_pin": False})
    told = Settings()
    assert (bool(told.pin), told.owner_label, told.reads_before_pin) == (True, "Ada", False)
    assert not Settings(pin="").pin


@pytest.mark.promise("X174")
async def test_a_worker_holds_no_secret_of_the_hosts(tmp_path):
    body = """
    import os
    from keryx.config import load_settings
    return {"environ": dict(os.environ), "settings": repr(vars(load_settings()))}
    """
    async with keryx(tmp_path, {"x.py": tool(body)}, environ={"SECRET_X": "s3cret-value"}) as room:
        await room.host.entrance.pins.set("271828")
        found = json.dumps(await room.payload(await room.open(), "x"))
        assert "s3cret-value" not in found
        assert "SECRET_X" not in found
        assert "271828" not in found


# The gates.


@pytest.mark.promise("X226", "X227", "X228", "X229", "X231", "X232", "X233", "X341", "X342", "X343")
def test_the_three_gates_answer_as_keryx_has_it():
    from keryx.config import Settings
    from keryx.tools.builtin_common import pin_gate, possession_gate, read_gate
    from keryx.trust import TrustLevel

    none, possession, full = (stub(level, keypressed=False) for level in TrustLevel)
    keyed = stub(TrustLevel.POSSESSION, keypressed=True)
    pin, without, strict = Settings(pin="123456"), Settings(pin=""), Settings(pin="123456", briefing_before_pin=False)
    required = pin_gate(none, pin)
    assert pin_gate(full, pin) is None
    assert pin_gate(stub(2), pin) == required == pin_gate(possession, pin)
    assert set(required) == {"status", "message"}
    assert required["status"] == "pin_required"
    assert "one short sentence" in required["message"]
    assert "do not announce that you are checking it" in required["message"]
    assert "same tool again" in required["message"]
    refusal = pin_gate(none, without)
    assert (refusal["status"], "none is configured" in refusal["message"]) == ("refused", True)
    assert (read_gate(none, pin), read_gate(none, without), read_gate(none, strict)) == (None, refusal, required)
    assert possession_gate(full, pin) is None
    assert possession_gate(none, pin) == required
    assert possession_gate(possession, pin, keypress=False) is None
    asked = possession_gate(possession, pin)
    assert (asked["status"], "any one key" in asked["message"]) == ("keypress_required", True)
    assert possession_gate(keyed, pin) is None
    assert pin_gate(keyed, pin) == required


@pytest.mark.promise("X040", "X230")
async def test_the_hosts_gate_says_what_pin_gate_says_whatever_the_arguments(tmp_path):
    from keryx.config import Settings
    from keryx.tools.builtin_common import pin_gate
    from keryx.trust import TrustLevel

    async with keryx(tmp_path, {"x.py": tool(options='description="d"')}) as room:
        phone = await room.open("phone")
        assert await room.payload(phone, "x") == pin_gate(stub(TrustLevel.NONE), Settings(pin=""))
        await room.host.entrance.pins.set("271828")
        texts = {(await room.run(phone, "x", sent)).text for sent in ({}, {"a": 1}, "{broken", "[1]")}
        assert [json.loads(text) for text in texts] == [pin_gate(stub(TrustLevel.NONE), Settings(pin="1"))]


# The registry and the folder, as a file's own process has them.


@pytest.fixture
def registry():
    from keryx.tools.registry import ToolRegistry

    return ToolRegistry()


@pytest.mark.promise("X076", "X082", "X083", "X175", "X176", "X177", "X080", "X181", "X313")
async def test_a_registry_holds_tools_by_name_and_its_call_lets_no_exception_out(registry, caplog):
    ctx = stub(0)
    registry.register("x", "d", DEFAULT, handler)
    assert registry.schemas() == [{"type": "function", "name": "x", "description": "d", "parameters": DEFAULT}]
    assert await registry.call("x", {}, ctx) == {"ok": True}
    assert await registry.call("nope", {}, ctx) == {"error": "unknown tool: nope"}

    async def seven(ctx, args):
        return 7

    registry.register("x", "d", DEFAULT, seven, silent=True)
    assert [record.levelname for record in caplog.records if "tool x is" in record.getMessage()] == ["WARNING"]
    assert len(registry.schemas()) == 1
    assert await registry.call("x", {}, ctx) == {"result": 7}
    registry.register("y", "d", DEFAULT, handler, silent=lambda arguments: SEEN.append(arguments))
    assert (registry.names(), "y" in registry, "z" in registry) == (["x", "y"], True, False)
    assert (registry.is_silent("x"), registry.is_silent("nope"), registry.is_silent("y")) == (True, False, False)
    assert SEEN.pop() == {}
    registry.register("z", "d", DEFAULT, handler, silent=lambda arguments: 1 / 0)
    assert registry.is_silent("z") is False

    class Odd:
        def __bool__(self):
            raise ValueError

    registry.register("odd", "d", DEFAULT, handler, silent=Odd())
    assert registry.is_silent("odd") is False
    for error in (ZeroDivisionError("division by zero"), SystemExit(2), KeyboardInterrupt()):

        async def raises(ctx, args, error=error):
            raise error

        registry.register("r", "d", DEFAULT, raises)
        assert await registry.call("r", {}, ctx) == {"error": f"{type(error).__name__}: {error}"}


SEEN: list[object] = []


@pytest.mark.promise("X081")
async def test_only_the_cancellation_of_the_call_itself_comes_out_of_a_registry(registry):
    began = asyncio.Event()

    async def waits(ctx, args):
        began.set()
        await asyncio.sleep(9)

    registry.register("w", "d", DEFAULT, waits)
    running = asyncio.ensure_future(registry.call("w", {}, stub(0)))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.promise("X014", "X178", "X315", "X317")
async def test_each_session_gets_a_registry_of_its_own_with_what_the_loader_adds(registry, caplog):
    registry.register("base", "d", DEFAULT, handler)
    assert registry.for_call() is registry
    given = []

    def loader(own):
        given.append(own)
        own.register(f"more{len(given)}", "d", DEFAULT, handler)
        if len(given) == 3:
            raise RuntimeError("half-way")

    registry.set_loader(loader)
    first, second = registry.for_call(), registry.for_call()
    assert (first.names(), second.names(), registry.names()) == (["base", "more1"], ["base", "more2"], ["base"])
    assert given == [first, second]
    assert first.for_call() is first
    assert registry.for_call().names() == ["base"]
    assert "loading the custom tools failed" in caplog.text


@pytest.mark.promise("X115", "X287", "X292", "X291", "X295", "X304", "X133")
def test_a_folder_is_loaded_into_pairs(tmp_path):
    from keryx.tools.custom import CustomTool, Loaded, load_custom_tools

    assert load_custom_tools(tmp_path / "missing") == Loaded([], [])
    folder = tmp_path / "tools"
    twice = tool(name="twice")
    save(
        folder,
        {
            "_draft.py": "raise ValueError",
            "a.py": twice,
            "a_broken.py": "def broken(:",
            "b.py": twice,
            "b_moon.py": MOON,
            "x.txt": "x",
        },
    )
    loaded = load_custom_tools(folder)
    assert [(path.name, one.name) for path, one in loaded.tools] == [("a.py", "twice"), ("b_moon.py", "moon_phase")]
    assert [path.name for path, _ in loaded.errors] == ["a_broken.py", "b.py"]
    assert loaded.errors[0][1].startswith("SyntaxError")
    assert loaded.errors[1] == (folder / "b.py", "'twice' is already a tool's name")
    assert all(type(one) is CustomTool for _, one in loaded.tools)
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.tools = []
    (folder / "b_moon.py").write_text(MOON.replace("moon_phase", "moon_rise"))
    assert [one.name for _, one in load_custom_tools(folder).tools] == ["twice", "moon_rise"]


@pytest.mark.promise("X301", "X302", "X303", "X123", "X126")
def test_what_others_could_write_is_not_run(tmp_path, monkeypatch):
    from keryx.tools.custom import load_custom_tools

    folder = tmp_path / "tools"
    save(folder, {"a.py": "raise ValueError('ran')", "moon.py": MOON})
    (folder / "a.py").chmod(0o666)
    (folder / "d.py").mkdir()
    (folder / "l.py").symlink_to(tmp_path / "nothing")
    os.mkfifo(folder / "p.py", 0o600)
    loaded = load_custom_tools(folder)
    assert [one.name for _, one in loaded.tools] == ["moon_phase"]
    reasons = {path.name: reason for path, reason in loaded.errors}
    assert reasons["a.py"] == "PermissionError: writable by other users (chmod go-w)"
    assert reasons["d.py"].startswith("IsADirectoryError: ")
    assert reasons["l.py"] == f"FileNotFoundError: [Errno 2] No such file or directory: {str(folder / 'l.py')!r}"
    assert reasons["p.py"].startswith("OSError: ")
    folder.chmod(0o777)
    assert load_custom_tools(folder).errors == [(folder, "writable by other users (chmod go-w)")]
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: 1 + folder.stat().st_uid)
    refused = load_custom_tools(folder)
    assert (refused.tools, refused.errors) == ([], [(folder, "owned by another user")])


@pytest.mark.promise("X116", "X305", "X316", "X258", "X151")
async def test_a_folders_tools_join_a_registry_behind_its_own(tmp_path, registry, caplog):
    from keryx.config import Settings
    from keryx.tools.custom import register_custom_tools

    caplog.set_level(logging.INFO)
    save(tmp_path / "tools", {"moon.py": MOON, "clash.py": tool(name="dispatch_task"), "own.py": tool(name="mine")})
    registry.register("dispatch_task", "d", DEFAULT, handler)
    registry.register("mine", "d", DEFAULT, handler)
    registry.set_loader(lambda own: register_custom_tools(own, Settings(data_dir=tmp_path)))
    assert registry.for_call().names() == ["dispatch_task", "mine", "moon_phase"]
    told = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    name = "keryx.tools.custom"
    assert (name, "WARNING", "custom tool clash.py refused: 'dispatch_task' is already a tool's name") in told
    assert (name, "WARNING", "custom tool own.py refused: 'mine' is already a tool's name") in told
    assert (name, "INFO", "custom tools: moon_phase") in told
    (tmp_path / "tools" / "moon.py").unlink()
    assert registry.for_call().names() == ["dispatch_task", "mine"] == registry.names()


@pytest.mark.promise("X306", "X307", "X308", "X187", "X035")
async def test_a_tool_in_a_registry_is_gated_limited_wrapped_and_json(tmp_path, registry, caplog):
    from keryx.config import Settings
    from keryx.tools.custom import register_custom_tools
    from keryx.trust import TrustLevel

    slow = 'description="d", needs_pin=False, timeout_s=0.02'
    files = {
        "a.py": tool(name="shut", options='description="d"'),
        "b.py": tool("return {1: float('nan')}", name="open"),
        "c.py": tool("import asyncio\nawait asyncio.sleep(9)", name="slow", options=slow),
        "d.py": tool("raise TimeoutError('upstream')", name="late", options=slow, kind="def"),
    }
    save(tmp_path / "tools", files)
    register_custom_tools(registry, Settings(data_dir=tmp_path, pin="123456"))
    none, keyed, full = stub(TrustLevel.NONE), stub(TrustLevel.POSSESSION, keypressed=True), stub(TrustLevel.FULL)
    assert (await registry.call("shut", {}, none))["status"] == "pin_required"
    assert (await registry.call("shut", {}, keyed))["status"] == "pin_required"
    assert await registry.call("shut", {}, full) == {"ok": True}
    assert await registry.call("open", {}, none) == {"1": None}
    assert await registry.call("slow", {}, none) == {"error": "slow did not answer in time"}
    assert [record.levelname for record in caplog.records if "slow" in record.getMessage()] == ["WARNING"]
    assert await registry.call("late", {}, none) == {"error": "TimeoutError: upstream"}
