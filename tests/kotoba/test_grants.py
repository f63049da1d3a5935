"""What a Kotoba plugin may touch: what its files declare and visibly use, as far as its owner lets it, held by the kernel."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.kotoba.homes import PING, Room, kotoba, ping, write
from tests.spine.homes import host_at

from etui.agent.scripted import call
from etui.errors import UsageError
from etui.owner.grants import Grants
from etui.plugins.load import Loader
from etui.run.blocked import blocked
from etui.store import Store
from etui.tool import Grant, Plugin, Tool

REACHES = ping("with socket.socket():\n    return 'reached'", name="reach", top="import socket")
NATIVE = """
import socket

from etui import tool


@tool(risk="network")
def reach() -> str:
    socket.socket().close()
    return "reached"
"""


def work(room: Room) -> str:
    return str(room.host.home / "files")


@pytest.mark.promise("K041")
async def test_risk_takes_no_tool_off_the_list_and_sets_what_its_worker_may_touch(tmp_path):
    risks = ("read", "write", "network", "exec")
    files = {f"{risk}.py": ping(name=risk, head=f"RISK = {risk!r}") for risk in risks}
    async with kotoba(tmp_path, files, allow_exec="allow") as room:
        await room.turn("hello", [call(risk, index=number) for number, risk in enumerate(risks)], "Done.")
        assert room.offered(0) == sorted(risks)
        assert [message.text for message in room.results()] == ["pong"] * 4
        held = {alive.plugin: alive for alive in room.host.workers.report()}
        files = work(room)
        assert {risk: held[risk].grant for risk in risks} == {
            "read": Grant(),
            "write": Grant(write=(files,)),
            "network": Grant(write=(files,), network=True),
            "exec": Grant(write=(files,), network=True, subprocess=True),
        }
        assert all(alive.enforced.network == "kernel" for alive in held.values())


async def test_a_read_tool_that_visibly_uses_the_network_has_it_and_its_owner_sees_that_and_can_forbid_it(tmp_path):
    async with kotoba(tmp_path, {"p/reach.py": REACHES, "q/ping.py": PING}) as room:
        assert (await room.call("reach")).text == "reached"
        (p,) = [plugin for plugin in room.host.plugins.all() if plugin.name == "p"]
        assert (p.grant.network, p.tools[0].risk) == (True, "read")
        assert any("network" in note for note in p.notes)
        assert all(not plugin.notes for plugin in room.host.plugins.all() if plugin.name == "q")

        room.host.plugins.forbid("p", "network", True)
        outcome = await room.call("reach")
        assert outcome.status == "failed"
        assert "network" not in outcome.text
        assert "may not use the network" in outcome.why
        assert "`etui grant p --yes network`" in outcome.why
        assert room.host.plugins.grant("p")["forbidden"] == ["network"]

        room.host.plugins.forbid("p", "network", False)
        assert (await room.call("reach")).text == "reached"
        assert (room.host.plugins.grant("p")["forbidden"], room.host.plugins.grant("p")["allowed"]) == ([], [])


async def test_what_was_never_asked_for_is_blocked_and_the_owner_can_allow_it(tmp_path):
    hidden = 'module = __import__("sock" + "et")\nwith module.socket():\n    return "reached"'
    async with kotoba(tmp_path, {"p/ping.py": ping(hidden)}) as room:
        outcome = await room.call("ping")
        assert (outcome.status, "--yes network" in outcome.why) == ("failed", True)
        room.host.plugins.forbid("p", "network", False)
        assert (await room.call("ping")).text == "reached"
        assert room.host.plugins.grant("p")["allowed"] == ["network"]


@pytest.mark.promise("K046")
async def test_a_check_on_a_variable_hangs_on_what_the_owner_gave_and_no_other_secret_is_there(tmp_path):
    head = "def check():\n    import os\n    return bool(os.environ.get('MY_SERVICE_TOKEN'))"
    look = "import json, os\nreturn json.dumps(dict(os.environ))"
    environ = {"MY_SERVICE_TOKEN": "s3cret", "OPENAI_API_KEY": "sk-model", "PATH": "/usr/bin:/bin"}
    files = {"p/ping.py": ping(look, head=head), "q/look.py": ping(look, name="look")}
    async with kotoba(tmp_path, files, environ=environ) as room:
        await room.turn("hello", "Hi.")
        assert room.offered() == ["look"]
        (p,) = [plugin for plugin in room.host.plugins.all() if plugin.name == "p"]
        assert p.wishes.env == ("MY_SERVICE_TOKEN",)
        assert p.grant.env == ()
        assert any("MY_SERVICE_TOKEN" in note for note in p.notes)
        assert room.host.plugins.grant("p")["missing"] == ["MY_SERVICE_TOKEN"]

        room.host.plugins.give("p", "MY_SERVICE_TOKEN")
        await room.turn("hello", [call("ping"), call("look", index=1)], "Done.")
        assert room.offered(1) == ["look", "ping"]
        given, other = (json.loads(message.text) for message in room.results())
        assert given["MY_SERVICE_TOKEN"] == "s3cret"
        assert "MY_SERVICE_TOKEN" not in other
        assert "OPENAI_API_KEY" not in given | other
        assert room.host.plugins.grant("p")["missing"] == []
        assert "s3cret" not in str(room.host.plugins.grant("p"))

        room.host.plugins.take("p", "MY_SERVICE_TOKEN")
        await room.turn("hello", "Hi.")
        assert room.offered() == ["look"]


async def test_a_variable_with_a_value_of_its_own_reaches_the_next_call_and_outlives_a_restart(tmp_path):
    body = "import os\nreturn os.environ.get('REGION', 'nowhere')"
    async with kotoba(tmp_path, {"p/ping.py": ping(body)}) as room:
        assert (await room.call("ping")).text == "nowhere"
        for value in ("north", "south"):
            room.host.plugins.give("p", "REGION", value)
            assert (await room.call("ping")).text == value
    async with kotoba(tmp_path, {"p/ping.py": ping(body)}) as room:
        assert (await room.call("ping")).text == "south"


async def test_a_file_that_needs_a_variable_to_load_is_offered_once_it_was_given(tmp_path):
    needy = ping("return TOKEN", top="import os\nTOKEN = os.environ['TOKEN']")
    async with kotoba(tmp_path, {"p/ping.py": needy}) as room, room.host.hub.listen() as events:
        assert room.host.tools.all() == ()
        assert room.host.plugins.grant("p")["missing"] == ["TOKEN"]
        room.host.plugins.give("p", "TOKEN", "x")
        while not room.host.tools.all():
            await events.next()
        assert (await room.call("ping")).text == "x"


@pytest.mark.promise("K343", "K349")
async def test_the_file_itself_is_held_to_what_it_declared(tmp_path):
    climb = "../" * len((tmp_path / "home" / "files").parts) + "etc/passwd"
    acts = {
        "shadow": "return open('/etc/shadow').read()",
        "outside": f"open({str(tmp_path / 'outside')!r}, 'w').write('x')\nreturn 'written'",
        "program": "import os\nreturn str(os.fork())",
        "link": "return open('link').read()",
        "climb": f"return open({climb!r}).read()",
    }
    files = {f"{name}.py": ping(body, name=name) for name, body in acts.items()}
    (tmp_path / "home" / "files").mkdir(parents=True)
    (tmp_path / "home" / "files" / "link").symlink_to("/etc/passwd")
    async with kotoba(tmp_path, files) as room:
        ends = {name: await room.call(name) for name in acts}
        assert {name: end.status for name, end in ends.items()} == dict.fromkeys(acts, "failed")
        assert [name for name, end in ends.items() if "PermissionError" not in end.detail] == []
        assert "'/etc/shadow'" in ends["shadow"].why
        assert "--yes subprocess" in ends["program"].why
        assert not (tmp_path / "outside").exists()
        assert (await room.host.report.whole())["enforced"]["files"] == "kernel"


async def test_a_plugin_that_nobody_knows_and_what_is_no_part_are_told(tmp_path):
    async with kotoba(tmp_path, {"p/ping.py": PING}) as room:
        with pytest.raises(UsageError, match="no plugin 'q'"):
            room.host.plugins.give("q", "X", "1")
        with pytest.raises(UsageError, match="not in Etui's environment"):
            room.host.plugins.give("p", "X")
        with pytest.raises(UsageError, match="no name of a variable"):
            room.host.plugins.give("p", "A B", "1")
        with pytest.raises(UsageError, match="network, subprocess, write"):
            room.host.plugins.forbid("p", "everything", True)
        with pytest.raises(UsageError, match="never given"):
            room.host.plugins.take("p", "X")


async def test_an_owner_can_keep_a_native_tool_from_what_it_declares_too(tmp_path):
    write(tmp_path / "home" / "tools", {"net.py": NATIVE})
    async with host_at(tmp_path / "home") as host:
        session = host.session("python")
        assert (await session.call(session.new_call("reach", {}))).text == "reached"
        host.plugins.forbid("net", "network", True)
        outcome = await session.call(session.new_call("reach", {}))
        assert "`etui grant net --yes network`" in outcome.why


def test_a_decision_that_cannot_be_read_forbids_everything(tmp_path):
    store = Store.open(tmp_path / "etui.db")
    store.values.put("grant", "p", {"env": 7})
    grants = Grants(store.values, {}, "/work")
    asked = Grant(write=("/work",), network=True, subprocess=True)
    assert grants.of("p", asked) == Grant()
    plugin = Plugin(name="p", contract="kotoba", source="s", path="", wishes=asked)
    assert any("decide anew" in note for note in grants.notes(plugin))
    grants.forbid("p", "network", False, asked)
    assert Grants(store.values, {}, "/work").of("p", asked) == Grant(network=True)
    store.close()


@pytest.mark.parametrize(
    ("detail", "says"),
    [
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "--yes network"),
        ("x = socket.socket()\nPermissionError: [Errno 13] Permission denied", "--yes network"),
        ("pid = os.fork()\nPermissionError: [Errno 1] Operation not permitted", "--yes subprocess"),
        ("PermissionError: [Errno 13] Permission denied: 'a.txt'", "--yes write"),
        ("PermissionError: [Errno 13] Permission denied: 'a.txt'", "--yes write"),
        ("PermissionError: [Errno 13] Permission denied: '/etc/shadow'", "'/etc/shadow'"),
        ("PermissionError: [Errno 1] Operation not permitted", "shows what it may touch"),
        ("ValueError: no", ""),
    ],
)
def test_what_the_kernel_kept_it_from_is_told_with_the_way_to_allow_it(detail, says):
    tool = Tool(name="t", description="", parameters={}, contract="kotoba", plugin="p")
    told = blocked(tool, Grant(), "/work", detail)
    assert (says in told) if says else told == ""


def test_the_terminal_shows_and_decides_what_a_plugin_may_touch(tmp_path, monkeypatch, capsys):
    from etui.__main__ import open_lazily
    from etui.surfaces.cli import main

    home = tmp_path / "home"
    write(home / "plugins", {"p/reach.py": REACHES, "p/ask.py": ping("import os\nos.getenv('TOKEN')")})
    monkeypatch.setenv("ETUI_HOME", str(home))
    monkeypatch.setenv("ETUI_SHELF", "off")
    monkeypatch.delenv("TOKEN", raising=False)

    def run(*arguments: str) -> tuple[int, str]:
        code = main(open_lazily, ["grant", *arguments])
        return code, "".join(capsys.readouterr())

    code, out = run("p")
    assert code == 0
    assert "Asks for the variable TOKEN; `etui grant p TOKEN` gives it." in out
    code, out = run("p", "TOKEN")
    assert (code, "not in Etui's environment" in out) == (2, True)
    code, out = run("p", "TOKEN=s3cret", "--no", "network", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["given"], found["missing"], found["forbidden"]) == (["TOKEN"], [], ["network"])
    assert (found["has"]["network"], found["asks"]["network"]) == (False, True)
    assert "s3cret" not in out
    code, out = run("p", "--yes", "network", "--take", "TOKEN")
    assert (code, "TOKEN" in out) == (0, True)
    assert run("nobody")[0] == 1
    assert run("p", "--yes", "network", "--no", "network")[0] == 2


async def test_a_loader_without_an_owner_gives_no_variable(tmp_path):
    loader = Loader(lambda files, grant: None, {}, tmp_path)
    plugin = Plugin(name="p", contract="kotoba", source="s", path="", wishes=Grant(network=True, env=("TOKEN",)))
    assert loader.granted(plugin).grant == Grant(network=True)


async def test_a_file_that_wants_a_variable_is_told_how_it_is_given_at_its_load_and_in_a_call(tmp_path):
    files = {
        "load/load.py": ping("return KEY[:3]", name="load", top="import os\nKEY = os.environ['LOAD_KEY']"),
        "use/use.py": ping("import os\nreturn os.environ['USE_KEY'][:3]", name="use"),
        "own/own.py": ping("return {}['USE_KEY']", name="own"),
    }
    async with kotoba(tmp_path, files) as room:
        (problem,) = [problem for problem in room.host.problems.all() if problem.refused]
        assert problem.reason == "it needs the variable LOAD_KEY, which it was not given."
        assert problem.hint.startswith("`etui grant load LOAD_KEY` gives it")
        outcome = await room.call("use")
        assert "Plugin 'use' was not given the variable USE_KEY. `etui grant use USE_KEY` gives it." in outcome.why
        assert "etui grant" not in (await room.call("own")).why
        room.host.plugins.give("load", "LOAD_KEY", "abcdef")
        room.host.plugins.give("use", "USE_KEY", "ghijkl")
        while not any(tool.name == "load" for tool in room.host.tools.all()):
            await asyncio.sleep(0.02)
        assert [(await room.call(name)).text for name in ("load", "use")] == ["abc", "ghi"]
        assert [problem for problem in room.host.problems.all() if problem.refused] == []
