"""Plugins with settings: the two files that turning one on writes, and that it is a tool file like any other."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.keryx.homes import Room, keryx, save, tool
from tests.keryx.services import SEARXNG, TOKEN, home_assistant, service
from tests.spine.homes import host_at

from etui.errors import EtuiError, UsageError
from etui.extras.offers import OFFERS
from etui.extras.rows import RowError, defaults
from etui.home import Home, write_private
from etui.owner.secrets import Secrets
from etui.plugins.packaged import Packaged, source

NOBODY = {"searxng": "http://127.0.0.1:1"}
"""Settings with which `search_web` loads, and asks nobody."""


@pytest.fixture
async def room(tmp_path) -> AsyncIterator[Room]:
    """A host whose folder of tools is empty."""
    async with keryx(tmp_path, {}) as opened:
        yield opened


@pytest.fixture
def files(tmp_path) -> Packaged:
    """The same in a folder that no host reads: every file that is there gives a tool."""

    async def look(folder: Path) -> dict[str, str]:
        return {}

    secrets = Secrets(tmp_path / "secrets.toml", lambda: None, write_private)
    return Packaged(lambda: tmp_path / "tools", look, write_private, secrets, lambda name: f"home.{name}")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def settings(files: Packaged, name: str) -> dict[str, object]:
    return tomllib.loads((files.folder / f"{name}.toml").read_text())


@pytest.mark.promise("X049", "X269", "X337")
async def test_installing_writes_the_files_and_the_tool_is_there_in_the_next_session(room):
    before = await room.open()
    with service(lambda asked: (200, SEARXNG)) as server:
        state = await room.host.packaged.install("search_web", {"searxng": server.url})
        assert (state.on, state.installed, state.refused) == (True, True, None)
        assert Path(state.tool_file) == room.folder / "search_web.py"
        after = await room.open("phone")
        found = await room.payload(after, "search_web", {"query": "opening hours"})
    assert found["results"][0]["site"] == "library.example"
    assert "search_web" not in before.own and list(after.own) == ["search_web"]


@pytest.mark.promise("X048")
async def test_a_plugins_file_is_judged_as_any_tool_file_is(room):
    packaged, path = room.host.packaged, room.folder / "search_web.py"
    await packaged.install("search_web", NOBODY)
    path.chmod(0o666)
    assert (await packaged.state("search_web")).refused == "PermissionError: writable by other users (chmod go-w)"
    path.chmod(0o600)
    save(room.folder, {"a.py": tool(name="search_web")})
    assert (await packaged.state("search_web")).refused == "'search_web' is already a tool's name"
    save(room.folder, {"a.py": tool(name="other"), "search_web.py": "raise ValueError('no')\n" + path.read_text()})
    assert (await packaged.state("search_web")).refused == "ValueError: no"
    save(room.folder, {"search_web.py": "from keryx.tools.custom import ToolUnavailable\nraise ToolUnavailable('')\n"})
    state = await packaged.state("search_web")
    assert (state.on, state.refused) == (False, ""), "it gave no reason, and is refused all the same"
    session = await room.open()
    assert list(session.own) == ["other"]
    room.folder.chmod(0o777)
    state = await packaged.state("search_web")
    assert (state.on, state.installed, state.refused) == (False, True, "writable by other users (chmod go-w)")
    with pytest.raises(EtuiError, match="writable by other users"):
        await packaged.install("home_assistant", {})
    assert not (room.folder / "home_assistant.toml").exists()


@pytest.mark.promise("X050")
@pytest.mark.parametrize("name", OFFERS)
def test_the_tool_file_is_one_call_of_the_factory(name):
    first, *imports, last = ast.parse(source(OFFERS[name])).body
    assert isinstance(first, ast.Expr) and all(isinstance(one, ast.ImportFrom) for one in imports)
    assert ast.unparse(last) == f"{name} = {name}_tool(Path(__file__).with_suffix('.toml'))"


@pytest.mark.promise("X051", "X162")
@pytest.mark.parametrize("name", OFFERS)
async def test_beside_it_lie_its_settings_each_under_a_comment_for_the_owner_alone(files, name):
    await files.install(name, {})
    text = (files.folder / f"{name}.toml").read_text()
    assert tomllib.loads(text) == defaults(OFFERS[name])
    for row in OFFERS[name].rows:
        above = text.split(f"\n[{row.name}]" if row.kind == "table" else f"\n{row.name} = ")[0].splitlines()[-1]
        assert above.startswith("# ")
    assert {mode(path) for path in files.folder.iterdir()} == {0o600} and mode(files.folder) == 0o700


ECHO = """
from keryx.tools.custom import LOADING_SETTINGS, CustomTool, ToolUnavailable

DATA = LOADING_SETTINGS.get().data_dir

async def where(ctx, args):
    return {"data_dir": str(DATA)}

where = CustomTool("where", "Say where.", {"type": "object"}, where, needs_pin=False)
"""
"""Keeps the loader's folder, and tells it."""
UNFIT = """
from keryx.tools.custom import LOADING_SETTINGS, ToolUnavailable
raise ToolUnavailable(str(LOADING_SETTINGS.get().data_dir))
"""


@pytest.mark.promise("X052", "X053", "X054")
async def test_a_file_that_loads_finds_the_settings_of_whoever_loads_it(tmp_path):
    async with keryx(tmp_path, {"echo.py": ECHO, "unfit.py": UNFIT}) as room:
        data = room.folder.parent
        assert await room.payload(await room.open(), "where") == {"data_dir": str(data)}
        assert [(one.file, one.reason) for one in room.host.problems.all()[-1:]] == [(str(room.folder / "unfit.py"), str(data))]
        other = tmp_path / "moved" / "tools"
        save(other, {"echo.py": ECHO, "unfit.py": UNFIT})
        await room.host.settings.set("sources", [{"path": str(other), "contract": "keryx"}])
        assert await room.payload(await room.open(), "where") == {"data_dir": str(other.parent)}
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ETUI_HOME": str(tmp_path / "home"), "ETUI_SHELF": "off"}
    command = [sys.executable, "-m", "etui", "tools", "--json"]
    told = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert str(other.parent) in json.dumps([refusals(json.loads(told.stdout))])


def refusals(document: object) -> list[str]:
    """Every `reason` in a document, wherever it stands."""
    if isinstance(document, dict):
        own = [document["reason"]] if isinstance(document.get("reason"), str) else []
        return own + [reason for value in document.values() for reason in refusals(value)]
    return [reason for value in document for reason in refusals(value)] if isinstance(document, list) else []


KILLED = """
import asyncio, os, sys
from pathlib import Path
from etui.home import write_private
from etui.owner.secrets import Secrets
from etui.plugins.packaged import Packaged

place, at, act = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
steps = 0

def step(event, args):
    global steps
    if event in ("open", "os.rename", "os.remove", "os.mkdir") and str(place) in str(args[0]):
        steps += 1
        if steps == at:
            os._exit(9)

async def look(folder):
    return {}

packaged = Packaged(lambda: place / "tools", look, write_private, Secrets(place / "s", lambda: None, write_private), str)
wish = packaged.install("search_web", {"results": "9"}) if act == "install" else packaged.remove("search_web")

def within(loop):
    sys.addaudithook(step)
    return loop.run_until_complete(wish)

within(asyncio.new_event_loop())
"""
"""Turns a plugin on or off, and dies at the n-th time that it touches a file of the place."""


@pytest.mark.promise("X162")
@pytest.mark.parametrize("act", ["install", "remove"])
async def test_a_kill_at_any_moment_leaves_each_file_as_it_was_or_as_it_was_to_be(tmp_path, act):
    def state(place: Path) -> dict[str, str]:
        return {one.name: one.read_text() for one in (place / "tools").iterdir() if not one.name.startswith(".")}

    def run(place: Path, at: int) -> int:
        return subprocess.run([sys.executable, "-c", KILLED, str(place), str(at), act]).returncode

    async def look(folder: Path) -> dict[str, str]:
        return {}

    async def prepared(name: str) -> Path:
        place = tmp_path / name
        secrets = Secrets(place / "s", lambda: None, write_private)
        await Packaged(lambda: place / "tools", look, write_private, secrets, str).install("search_web", NOBODY)
        if act == "install":
            (place / "tools" / "search_web.py").unlink()
        return place

    place = await prepared("whole")
    before = state(place)
    assert run(place, -1) == 0
    after = state(place)
    assert before.keys() != after.keys()
    at = 0
    ended = 9
    while ended == 9:
        at += 1
        place = await prepared(f"{act}{at}")
        ended = run(place, at)
        for name, text in state(place).items():
            assert text in (before.get(name), after.get(name)), (at, name)
            assert mode(place / "tools" / name) == 0o600
        # Without its settings it would load with others than the owner's.
        assert "search_web.py" not in state(place) or "search_web.toml" in state(place)
    assert at > 3 and ended == 0


@pytest.mark.promise("X259")
async def test_removing_keeps_the_settings_aside_and_a_draft_is_passed_over(room):
    packaged = room.host.packaged
    state = await packaged.draft("search_web", NOBODY)
    assert (state.on, state.installed) == (False, False)
    assert sorted(path.name for path in room.folder.iterdir()) == ["_search_web.py", "search_web.toml"]
    assert await packaged.waiting() == ["search_web"]
    session = await room.open()
    assert not session.own and not room.host.problems.all()
    await packaged.install("search_web", {"results": "3"})
    state = await packaged.remove("search_web")
    assert not state.installed and state.settings["results"] == 3
    assert [path.name for path in room.folder.iterdir()] == ["search_web.toml.off"]
    assert await packaged.waiting() == ["search_web"]
    again = await packaged.install("search_web", {})
    assert again.settings["results"] == 3 and again.settings["searxng"] == NOBODY["searxng"]
    assert sorted(path.name for path in room.folder.iterdir()) == ["search_web.py", "search_web.toml"]
    with pytest.raises(UsageError, match="home_assistant is not installed"):
        await packaged.remove("home_assistant")


@pytest.mark.promise("X260")
async def test_the_settings_are_written_anew_with_their_comments_and_what_is_the_owners_stays(files):
    await files.install("home_assistant", {"names.lamp": "light.x"})
    path = files.folder / "home_assistant.toml"
    fresh = path.read_text()
    bare = "".join(line for line in fresh.splitlines(keepends=True) if not line.startswith("#"))
    text = bare.replace("[names]", "mine = 1  # why\n\n[names]") + '# of my own\n[own]\na = "b" # as it was\n# the end\n'
    path.write_text(text.replace("timeout_s", "# mind this\ntimeout_s").replace("10.0", "10.0 # it is slow"))
    await files.install("home_assistant", {"timeout_s": "3"})
    again = path.read_text()
    values = tomllib.loads(again)
    assert values["mine"] == 1 and values["own"] == {"a": "b"} and values["names"] == {"lamp": "light.x"}
    assert values["timeout_s"] == 3.0
    assert [line for line in fresh.splitlines() if line.startswith("#") and line not in again.splitlines()] == []
    for own in ("mine = 1  # why", "# of my own", '[own]\na = "b" # as it was', "# the end", "# mind this\n# Seconds"):
        assert own in again
    assert "timeout_s = 3.0  # it is slow" in again
    await files.install("home_assistant", {})
    assert path.read_text() == again


@pytest.mark.promise("X261")
async def test_an_edited_tool_file_is_left_alone_and_an_edited_draft_becomes_it(files):
    await files.install("search_web", {})
    path, draft = files.folder / "search_web.py", files.folder / "_search_web.py"
    path.write_text(path.read_text() + "# mine\n")
    await files.install("search_web", {"results": "2"})
    assert path.read_text().endswith("# mine\n")
    await files.remove("search_web")
    assert draft.read_text().endswith("# mine\n") and not path.exists()
    draft.chmod(0o644)
    await files.install("search_web", {})
    assert path.read_text().endswith("# mine\n") and not draft.exists() and mode(path) == 0o600
    await files.remove("search_web")
    draft.chmod(0o666)
    with pytest.raises(EtuiError, match="writable by other users"):
        await files.install("search_web", {})
    assert not path.exists()


@pytest.mark.promise("X262")
async def test_settings_edited_by_hand_count_from_the_next_session(room):
    with service(lambda asked: (200, SEARXNG)) as server:
        await room.host.packaged.install("search_web", {"searxng": server.url})
        path = room.folder / "search_web.toml"
        first = await room.open()
        path.write_text(path.read_text().replace("results = 5", "results = 1"))
        wish = {"query": "opening hours"}
        assert len((await room.payload(first, "search_web", wish))["results"]) == 2
        assert len((await room.payload(await room.open(), "search_web", wish))["results"]) == 1
    path.write_text(path.read_text().replace('provider = "auto"', 'provider = "altavista"'))
    state = await room.host.packaged.state("search_web")
    assert state.refused == "search_web: provider must be one of auto, searxng, brave"
    path.write_text("results =")
    state = await room.host.packaged.state("search_web")
    assert not state.on and f"{path} does not parse" in str(state.refused) and state.settings == {}
    with pytest.raises(RowError, match="does not parse"):
        await room.host.packaged.install("search_web", {"results": "2"})
    assert path.read_text() == "results ="


@pytest.mark.promise("X263")
async def test_a_word_is_letters_digits_and_three_signs_or_blank(files):
    with pytest.raises(RowError, match=r"^search_web: language must be a bare word \(letters, digits, . _ -\)$"):
        await files.install("search_web", {"language": "a b"})
    assert not files.folder.joinpath("search_web.toml").exists()
    for word in ("C0_1.x-y", ""):
        await files.install("search_web", {"language": word})
        assert settings(files, "search_web")["language"] == word


@pytest.mark.promise("X264")
async def test_a_choice_is_taken_in_any_case_and_a_number_as_text_too(files):
    await files.install("search_web", {"provider": " BRAVE ", "results": "7", "timeout_s": "2.5"})
    assert (settings(files, "search_web")["provider"], settings(files, "search_web")["results"]) == ("brave", 7)
    for value in ("true", "-1", "nan", "inf", "much", "0", ""):
        with pytest.raises(RowError, match=r"^search_web: timeout_s must be (a number|more than 0)$"):
            await files.install("search_web", {"timeout_s": value})
    for value in ("true", "-1", "'4'"):
        (files.folder / "search_web.toml").write_text(f"results = {value}\n")
        refused = (await files.state("search_web")).refused
        assert (refused is None) == (value == "'4'")
    assert (await files.state("search_web")).settings["results"] == 4


@pytest.mark.promise("X265")
async def test_a_path_is_one_line_and_names_in_a_table_are_lower_cased(files):
    for value in ("a\nb.pem", "a\x00.pem", "a\rb"):
        with pytest.raises(RowError, match=r"^home_assistant: certificate must be one line$"):
            await files.install("home_assistant", {"certificate": value})
    await files.install("home_assistant", {"names.Reading  Lamp": "light.hue_7", "certificate": " mine.pem "})
    assert settings(files, "home_assistant")["names"] == {"reading lamp": "light.hue_7"}
    assert settings(files, "home_assistant")["certificate"] == "mine.pem"
    for key, value in (("names.a;b", "light.x"), ("names.lamp", "light x"), ("names.lamp", 'x"\nq=1')):
        with pytest.raises(RowError, match=r"each (name|value) must be"):
            await files.install("home_assistant", {key: value})
    await files.install("home_assistant", {"names.READING LAMP": ""})
    assert settings(files, "home_assistant")["names"] == {}


@pytest.mark.parametrize(
    "address", ["homeassistant.local", "ftp://x", "http://", "http://a b", "http://me:pw@x", "http://x/?token=1", "http://x:y"]
)
async def test_an_address_is_bare_and_of_the_web(files, address):
    with pytest.raises(RowError, match=r"^home_assistant: address must be an? "):
        await files.install("home_assistant", {"address": address})


async def test_a_setting_that_there_is_not_is_refused_with_those_there_are(files):
    for key in ("channel_id", "names", "address.x", "names_", ""):
        with pytest.raises(RowError, match=r"has no setting .* \(address, certificate, timeout_s, names.NAME\)"):
            await files.install("home_assistant", {key: "x"})


@pytest.mark.promise("X336")
async def test_on_a_fresh_machine_every_plugin_is_off_in_one_order(room):
    found = await room.host.packaged.all()
    assert [(one.name, one.on, one.installed, one.refused) for one in found] == [
        ("home_assistant", False, False, None),
        ("search_web", False, False, None),
    ]
    assert list(room.folder.iterdir()) == []


async def test_without_a_source_the_home_has_a_folder_of_its_own(tmp_path):
    async with keryx(tmp_path, {}, sources=[]) as room:
        folder = Home(tmp_path / "home").keryx
        assert room.host.packaged.folder == folder and mode(folder) == 0o700
        await room.host.packaged.install("search_web", NOBODY)
        assert list((await room.open()).own) == ["search_web"]


@pytest.mark.promise("X271", "X269")
async def test_a_secret_reaches_the_plugin_and_no_file_of_the_folder(tmp_path):
    with service(home_assistant) as server:
        async with keryx(tmp_path, {"spy.py": tool("import os\nreturn dict(os.environ)", name="spy")}) as room:
            packaged = room.host.packaged
            lacking = await packaged.install("home_assistant", {"address": server.url})
            assert not lacking.on and "--secret HOME_ASSISTANT_TOKEN" in str(lacking.refused)
            assert packaged.secrets("home_assistant") == {"HOME_ASSISTANT_TOKEN": False}
            state = await packaged.install("home_assistant", {}, {"HOME_ASSISTANT_TOKEN": TOKEN})
            assert state.on and packaged.secrets("home_assistant") == {"HOME_ASSISTANT_TOKEN": True}
            session = await room.open()
            lamp = {"action": "off", "name": "kitchen"}
            assert (await room.payload(session, "home_assistant", lamp))["spoken"] == "Kitchen is off."
            assert TOKEN not in str(await room.payload(session, "spy"))
            written = [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
            events = str(await room.events())
        assert written == [] and mode(tmp_path / "home" / "secrets.sealed") == 0o600
        assert TOKEN not in events
        async with keryx(tmp_path, {}) as room:
            assert (await room.payload(await room.open(), "home_assistant", {"action": "list"}))["status"] == "ok"
            await room.host.packaged.remove("home_assistant")
            assert room.host.packaged.secrets("home_assistant") == {"HOME_ASSISTANT_TOKEN": True}
            await room.host.packaged.remove("home_assistant", forget=True)
            assert room.host.packaged.secrets("home_assistant") == {"HOME_ASSISTANT_TOKEN": False}
    assert not (tmp_path / "home" / "secrets.sealed").exists()


async def test_a_secret_that_it_does_not_want_is_refused(files):
    with pytest.raises(UsageError, match="wants no secret called 'OTHER'"):
        await files.install("home_assistant", {}, {"OTHER": "x"})
    assert not (files.folder / "home_assistant.py").exists()


@pytest.mark.promise("X266")
async def test_a_plugin_that_there_is_not_is_named(files):
    for act in (files.install("x", {}), files.remove("x"), files.state("x")):
        with pytest.raises(UsageError, match=r"^there is no plugin called 'x' \(home_assistant, search_web\)$"):
            await act


INSTALL = """
import subprocess, sys
ended = subprocess.run([sys.executable, "-m", "etui", "plugins", args["act"], "search_web", *args["more"]],
                       capture_output=True, text=True)
return {"code": ended.returncode, "told": ended.stderr}
"""


@pytest.mark.promise("X339")
async def test_a_plugin_can_turn_none_on_or_off(tmp_path):
    text = tool(INSTALL, name="worm", kind="def", options='description="Spread.", needs_pin=False')
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    async with keryx(tmp_path, {"worm.py": text}, environ=environ, tools_env=sys.prefix, allow_exec="allow") as room:
        session = await room.open()
        for act, more in (("install", []), ("remove", ["--yes"])):
            found = await room.payload(session, "worm", {"act": act, "more": more})
            assert found["code"] == 1 and f"only the owner may {act} a plugin" in found["told"]
        assert [path.name for path in room.folder.iterdir()] == ["worm.py"]


NO_ATTIC = "There is nothing called 'attic' for that; there is Cellar, Hue color lamp 7, Kitchen, Kitchen table."


@pytest.mark.slow
async def test_a_home_is_talked_to_without_any_model(tmp_path):
    async with host_at(tmp_path / "home", shelf=True) as host:
        with service(home_assistant) as home, service(lambda asked: (200, SEARXNG)) as web:
            await host.packaged.install("home_assistant", {"address": home.url}, {"HOME_ASSISTANT_TOKEN": TOKEN})
            await host.packaged.install("search_web", {"searxng": web.url})
            chat = host.store.chats.create("", "console").id
            for said, told in (
                ("turn on the kitchen light", "Kitchen is on."),
                ("turn the kitchen light off", "Kitchen is off."),
                ("turn off all lights", "All 4 lights are off."),
                ("set the movie night scene", "Movie night is set."),
                ("state of the front door", "Front door is off."),
                ("list my lights", "There are 4 lights and 2 scenes."),
                ("turn off the alarm", "You have no alarms set."),
                ("turn on the attic light at 30 percent", NO_ATTIC),
                ("search the web for opening hours of the city library", "Until seven in the evening."),
            ):
                assert await host.conversations.turn(chat, said, channel="console") == told
