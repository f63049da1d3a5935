"""What a folder of tool files gives a session: which files count, in which order, and what one bad file costs."""

from __future__ import annotations

import logging
import os

import pytest
from structlog.testing import capture_logs
from tests.keryx.homes import MOON, keryx, save, tool
from tests.kotoba.homes import ping

from etui.agent.scripted import call
from etui.builtins import TOOLS as BUILT_INS
from etui.contracts.keryx.builtin import BUILTIN_TOOL_NAMES
from etui.plugins.fresh import Listing


def refused(listing: Listing) -> list[tuple[str, str]]:
    """File and reason of everything that is not offered."""
    return [(one.file, one.reason) for one in listing.refused]


def held(listing: Listing) -> list[tuple[str, str]]:
    """Name and file of everything that is."""
    return [(one.name, one.file) for one in listing.tools]


def twice(answer: str, **more: str) -> str:
    return tool(f"return {answer!r}", name="twice", **more)


def etuis(name: str) -> str:
    """A tool file of Etui's own contract."""
    return f'from etui import tool\n\n\n@tool\ndef {name}() -> str:\n    """Say its name."""\n    return {name!r}\n'


@pytest.mark.promise("X003", "X119", "X121", "X122", "X128", "X168", "X291")
async def test_the_python_files_directly_in_the_folder_count_but_for_drafts(tmp_path):
    bomb = "raise RuntimeError('it ran')"
    files = {
        "moon.py": MOON,
        "my-tool.v2.py": tool(name="dotted"),
        ".hidden.py": tool(name="hidden"),
        "_draft.py": bomb,
        "__init__.py": bomb,
        "moon.txt": bomb,
        "moon.toml": bomb,
        "moon.py.off": bomb,
        "MOON.PY": bomb,
    }
    async with keryx(tmp_path, files) as room:
        save(room.folder.parent, {"other.py": bomb})
        save(room.folder / "sub", {"deep.py": bomb})
        (room.folder / "moon.toml").chmod(0o666)
        session = await room.open()
        assert list(session.own) == ["hidden", "moon_phase", "dotted"]
        assert room.problems() == []
        assert await room.payload(session, "hidden") == {"ok": True}


@pytest.mark.promise("X118", "X287")
async def test_where_there_is_no_folder_there_is_nothing_to_say(tmp_path):
    async with keryx(tmp_path, {}) as room:
        room.folder.rmdir()
        assert (dict((await room.open()).own), room.problems()) == ({}, [])
        room.folder.write_text("not a folder")
        assert (dict((await room.open()).own), room.problems()) == ({}, [])
        assert await room.turn("hello", "Hello.") == "Hello."


@pytest.mark.promise("X011", "X028", "X120", "X135", "X179", "X290", "X295")
async def test_files_come_in_the_order_of_their_names_and_the_first_to_take_a_name_keeps_it(tmp_path):
    two = tool(name="first") + tool(name="second", options='name="renamed", description="d", needs_pin=False')
    again = tool(name="other", options='name="twice", description="d", needs_pin=False')
    # This one would be refused for its description; that its name is taken is said first.
    late = twice("late", options='description=" ", needs_pin=False') + tool(name="own")
    files = {"a.py": twice("a"), "Z.py": twice("Z"), "b.py": two, "c.py": late, "d.py": twice("d") + again}
    async with keryx(tmp_path, files) as room:
        save(tmp_path / "home" / "tools", {"etuis.py": etuis("zz")})
        await room.host._tooling.catalogue.refresh()
        session = await room.open("phone")
        taken = "'twice' is already a tool's name"
        assert [name for name in room.problems() if name[0] == "twice"] == [("twice", taken, True)] * 4
        names = [one.name for one in session.tools()]
        assert names[: len(BUILT_INS)] == list(BUILT_INS), "the host's own stand first"
        assert [name for name in names if name in session.own] == ["twice", "first", "renamed", "own"]
        assert names[-4:] == ["twice", "first", "renamed", "own"]
        assert await room.payload(session, "twice") == {"result": "Z"}
        (listing,) = await room.host.plugins.folders()
        assert refused(listing) == [("a.py", taken), ("c.py", taken), ("d.py", taken), ("d.py", taken)]
        assert held(listing) == [("twice", "Z.py"), ("first", "b.py"), ("renamed", "b.py"), ("own", "c.py")]


@pytest.mark.promise("X026", "X027", "X029", "X150", "X152", "X294")
async def test_no_file_takes_a_name_of_the_hosts_of_keryx_or_of_the_registry(tmp_path):
    mark = tmp_path / "home" / "files" / "trace"
    names = {*BUILTIN_TOOL_NAMES, *BUILT_INS, "mine"}
    deed = f"open({str(mark)!r}, 'w').close()\nreturn 1"
    files = {f"{name}.py": tool(deed, name=name) for name in names} | {"slack.py": tool(name="send_to_slack")}
    async with keryx(tmp_path, files) as room:
        save(tmp_path / "home" / "tools", {"mine.py": etuis("mine")})
        await room.host._tooling.catalogue.refresh()
        session = await room.open("phone")
        assert list(session.own) == ["send_to_slack"]
        assert {what: reason for what, reason, _ in room.problems()} == {
            name: f"{name!r} is already a tool's name" for name in names
        }
        for name in names:
            await room.run(session, name, {"pin": "000000"})
        assert not mark.exists()
        python = await room.open()
        assert (await room.run(python, "mine")).text == "mine"
        assert "dispatch_task" not in {one.name for one in python.tools()}


@pytest.mark.promise("X123", "X124", "X126", "X134", "X136", "X137", "X293")
async def test_what_is_wrong_with_a_file_or_a_tool_is_said_and_costs_nothing_else(tmp_path):
    files = {
        "alias.py": tool(name="one") + "\ntwo = one\n",
        "blank.py": tool(name="blank", options='description=""') + tool(name="good"),
        "moon.py": MOON,
        "none.py": "X = 1\n",
        "named.py": tool(name="spaced", options='name="has space", description="d"'),
    }
    async with keryx(tmp_path, files) as room:
        (room.folder / "dir.py").mkdir()
        (room.folder / "gone.py").symlink_to(room.folder / "nothing")
        save(tmp_path / "else", {"linked.py": tool(name="linked")})
        (room.folder / "link.py").symlink_to(tmp_path / "else" / "linked.py")
        session = await room.open()
        assert list(session.own) == ["one", "good", "linked", "moon_phase"]
        assert await room.payload(session, "linked") == {"ok": True}
        (listing,) = await room.host.plugins.folders()
        assert refused(listing) == [
            ("alias.py", "'one' is already a tool's name"),
            ("blank.py", "'blank' has no description"),
            ("dir.py", f"IsADirectoryError: [Errno 21] Is a directory: {str(room.folder / 'dir.py')!r}"),
            ("gone.py", f"FileNotFoundError: [Errno 2] No such file or directory: {str(room.folder / 'gone.py')!r}"),
            ("named.py", "'has space' is not a valid tool name (letters, digits, _ and -)"),
            ("none.py", "defines no tool (decorate a function with @custom_tool)"),
        ]


FAULTS = {
    "def broken(:": "SyntaxError: ",
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
    "raise ValueError('nope')": "ValueError: nope",
    "import sys\nsys.exit(3)": "SystemExit: 3",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import os\nos._exit(1)": "Its process died while it was loaded",
    "while True: pass": "It was not loaded after 0.5 s",
    "data = bytearray(2 << 30)": "MemoryError",
    tool(name="b", options="description=None"): "'b' has no description",
}
"""Every kind of fault, and how its reason begins."""


@pytest.mark.promise("X018", "X019", "X020", "X021", "X022", "X292", "X305")
async def test_each_kind_of_fault_costs_its_file_alone_and_is_logged_once(tmp_path, caplog):
    caplog.set_level(logging.INFO, "keryx.tools.custom")
    async with keryx(tmp_path, {"a.py": tool(name="a"), "c.py": tool(name="c")}) as room:
        room.host.workers._describing.seconds = 0.5
        for fault, reason in FAULTS.items():
            save(room.folder, {"b.py": fault})
            caplog.clear()
            session = await room.open("phone", chat=room.host.store.chats.create("", "phone").id)
            assert list(session.own) == ["a", "c"], fault
            assert set(BUILT_INS) <= {one.name for one in session.tools()}
            (record,) = [one for one in caplog.records if one.levelno == logging.WARNING]
            assert record.getMessage().startswith(f"custom tool b.py refused: {reason}"), fault
            assert [one.getMessage() for one in caplog.records if one.levelno == logging.INFO] == ["custom tools: a, c"]
            assert [await room.payload(session, name) for name in ("a", "c")] == [{"ok": True}] * 2
            room.script([call("a")], "Done.")
            assert await room.host.conversations.turn(session.chat, "do it", channel="phone") == "Done."
            assert len(room.problems()) == 1
            room.host.sessions.end_by_id(session.id)
        save(room.folder, {"b.py": tool(name="b")})
        assert list((await room.open()).own) == ["a", "b", "c"]
        assert room.problems() == []


@pytest.mark.promise("X018", "X020", "X021")
async def test_a_file_whose_name_is_no_text_costs_itself_alone_in_a_folder_of_any_contract(tmp_path):
    async with keryx(tmp_path, {"a.py": tool(name="a")}) as room:
        etui = tmp_path / "home" / "tools"
        save(etui, {"mine.py": etuis("mine")})
        for folder, text in ((room.folder, tool(name="odd")), (etui, etuis("odd"))):
            handle = os.open(os.fsencode(folder) + b"/\xff.py", os.O_CREAT | os.O_WRONLY, 0o600)
            os.write(handle, text.encode())
            os.close(handle)
        await room.host._tooling.catalogue.refresh()
        assert [one.name for one in room.host.tools.all() if one.name in ("mine", "odd")] == ["mine"]
        session = await room.open()
        assert list(session.own) == ["a"]
        assert await room.payload(session, "a") == {"ok": True}
        assert sorted(room.problems()) == [
            (r"\udcff.py", "Its name is no UTF-8 text, so it cannot be told to anybody: rename it.", True),
            (r"\udcff.py", "UnicodeError: its name is no UTF-8 text: rename it", True),
        ]
        assert refused((await room.host.plugins.folders())[0]) == [
            (r"\udcff.py", "UnicodeError: its name is no UTF-8 text: rename it")
        ]
        assert await room.turn("hello", "Hello.") == "Hello."


@pytest.mark.promise("X258")
async def test_what_a_session_got_and_did_not_get_is_in_the_log_on_lines_of_their_own(tmp_path, caplog):
    caplog.set_level(logging.INFO, "keryx.tools.custom")
    forged = r"raise ValueError('x\ncustom tools: everything')"
    async with keryx(tmp_path, {"a.py": tool(name="a"), "b.py": forged, "c.py": tool(name="c")}) as room:
        with capture_logs() as noted:
            await room.open()
        lines = [
            ("warning", r"custom tool b.py refused: ValueError: x\ncustom tools: everything"),
            ("info", "custom tools: a, c"),
        ]
        assert [(one.levelname.lower(), one.getMessage()) for one in caplog.records] == lines
        assert [(one["log_level"], one["event"]) for one in noted] == lines[1:]


async def test_a_source_is_no_plugin_of_the_registrys_and_another_contracts_is_none_of_a_session(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON}) as room:
        await room.open()
        assert room.host.registry.snapshot.plugins == {}
        assert {plugin.name: plugin.contract for plugin in room.host.plugins.all()} == {"keryx.moon": "keryx"}
        (room.folder / "ping.py").write_text(ping())
        (room.folder / "ping.py").chmod(0o600)
        assert list((await room.open()).own) == ["moon_phase"]


async def test_of_a_file_that_is_switched_off_as_a_whole_no_code_runs(tmp_path):
    mark = tmp_path / "home" / "files" / "trace"
    loud = tool(head=f"open({str(mark)!r}, 'w').close()")
    async with keryx(tmp_path, {"loud.py": loud, "moon.py": MOON}) as room:
        await room.open()
        room.host.tools.switch("plugin:keryx.loud", False)
        mark.unlink()
        session = await room.open()
        assert (list(session.own), mark.exists(), room.problems()) == (["moon_phase"], False, [])
        assert {row.name: row.on for row in room.host.tools.families()} == {
            "plugin:keryx.loud": False,
            "plugin:keryx.moon": True,
        }
        room.host.tools.switch("moon_phase", False)
        assert (await room.run(session, "moon_phase")).rule == "switched_off"
        assert "moon_phase" not in {one.name for one in session.tools()}


async def test_a_file_may_touch_what_it_asks_for_unless_the_owner_forbids_it(tmp_path):
    writes = tool("open(args['path'], 'w').close()\nreturn 'written'")
    reads = tool(
        "return Path(__file__).with_suffix('.key').read_text()", name="key", head="from pathlib import Path", kind="def"
    )
    async with keryx(tmp_path, {"writes.py": writes, "reads.py": reads, "reads.key": "secret"}) as room:
        session = await room.open()
        work = tmp_path / "home" / "files"
        assert await room.payload(session, "x", {"path": str(work / "one")}) == {"result": "written"}
        assert "error" in await room.payload(session, "x", {"path": str(room.folder / "two")})
        assert await room.payload(session, "key") == {"result": "secret"}
        room.host.plugins.forbid("keryx.writes", "write", True)
        assert "error" in await room.payload(session, "x", {"path": str(work / "three")})
        assert {path.name for path in work.iterdir()} == {"one"}


async def test_who_wants_a_name_that_another_has_is_told_whose_it_is_and_the_way_out(tmp_path):
    files = {"a.py": tool(), "b.py": tool(), "c.py": tool(name="submit_pin")}
    async with keryx(tmp_path, files) as room:
        await room.open()
        hints = {problem.what: problem.hint for problem in room.host.problems.all()}
        assert hints["x"] == 'a.py has it; give yours another name: `@custom_tool("my_x", ...)`.'
        assert hints["submit_pin"].startswith("A tool of the host or of another plugin has it; give yours another name: ")
