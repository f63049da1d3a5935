"""The tool files of Kotoba's own wheel, unmodified, each call with the end that was measured on Kotoba itself."""

from __future__ import annotations

import ast
import asyncio
import sys
from pathlib import Path

import pytest
from tests.kotoba.homes import kinds, kotoba, ping
from tests.kotoba.wheel import files, skills
from tests.spine.homes import until

from etui.agent.direct import Direct
from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Outcome, Status

NOTHING = "The tool returned nothing. [tool failed — do not retry the same call; try another approach.]"
FILES = ("read_file", "write_file", "patch", "search_files")


def fill(folder: Path) -> Path:
    """The working folder of the measured calls."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.txt").write_text("alpha\nbeta gamma\nneedle here\n")
    (folder / "empty.txt").write_text("")
    (folder / "dup.txt").write_text("x=1\nx=1\n")
    (folder / "ws.txt").write_text("def f( a,\n      b):\n    pass\n")
    (folder / "long.txt").write_text("z" * 20_000)
    (folder / "link").symlink_to("/etc/passwd")
    return folder


@pytest.fixture
async def desk(tmp_path):
    """A room with the wheel's file tools, and its working folder filled."""
    work = fill(tmp_path / "home" / "files")
    async with kotoba(tmp_path, files(*FILES)) as room:
        room.work = work
        yield room


async def shown(room, name: str, arguments: dict, **session) -> tuple[asyncio.Task[Outcome], dict]:
    """A call with a person there, once its card is open; and the card."""
    async with room.host.hub.listen(Kind.CARD_OPENED) as cards:
        running = asyncio.create_task(room.call(name, arguments, attended=True, **session))
        return running, (await until(cards, Kind.CARD_OPENED)).data["card"]


def schema_of(tool: str) -> dict:
    """The SCHEMA that the wheel's file writes."""
    (text,) = files(tool).values()
    statements = (node for node in ast.parse(text).body if isinstance(node, ast.Assign))
    return next(ast.literal_eval(node.value) for node in statements if ast.unparse(node.targets[0]) == "SCHEMA")


def end(outcome: Outcome) -> tuple[str, str]:
    return outcome.status.value, outcome.text


@pytest.mark.promise("K383", "K141", "K143", "K147", "K384", "K385", "K386", "K387", "K388", "K389", "K390", "K391")
async def test_read_file_reads_quotes_pages_and_refuses_as_it_did(desk):
    assert [tool.name for tool in desk.host.tools.all()] == ["patch", "read_file", "search_files", "write_file"]
    assert desk.problems() == []
    (search,) = [tool for tool in desk.host.tools.all() if tool.name == "search_files"]
    assert (search.risk, search.provided, search.toolset) == ("read", False, "plugin:wheel")
    await desk.turn("hello", [call("search_files", {"query": "needle"})], "It is there.")
    assert [result.text for result in desk.results()] == ["notes.txt:3:needle here"]
    sent = next(tool for tool in desk.requests[-1].tools if tool.name == "search_files")
    schema = schema_of("search_files")
    assert (sent.name, sent.description, sent.parameters) == (schema["name"], schema["description"], schema["parameters"])

    whole = await desk.call("read_file", {"path": "notes.txt"})
    head, opened, *body, closed = whole.text.splitlines()
    assert whole.ok and "notes.txt" in head and body == ["alpha", "beta gamma", "needle here"]
    assert opened.startswith("<<<QUOTED ") and closed.startswith("<<<END ") and opened[-9:] == closed[-9:]
    assert int(opened[-9:-3], 16) >= 0
    page = (await desk.call("read_file", {"path": "notes.txt", "start": 1, "limit": 1})).text
    assert page.index("[1 more lines follow.]") < page.index("<<<QUOTED")
    past = await desk.call("read_file", {"path": "notes.txt", "start": 99})
    assert past.ok and "only 3 lines" in past.text and "past the end" in past.text
    empty = await desk.call("read_file", {"path": "empty.txt"})
    assert empty.ok and "exists and is empty (0 bytes)" in empty.text
    for path in ("../etc/passwd", "/etc/passwd", "link"):
        outside = await desk.call("read_file", {"path": path})
        assert end(outside) == ("refused", "That path is outside my workspace, so I can't open it.")
    assert end(await desk.call("read_file", {"path": "missing.txt"})) == ("refused", "There's no file at missing.txt yet.")
    assert end(await desk.call("read_file")) == ("failed", NOTHING)
    cut = await desk.call("read_file", {"path": "long.txt"})
    assert cut.ok and cut.text.count("z") - cut.text.splitlines()[0].count("z") >= 8000
    assert "z" * 8000 in cut.text and "z" * 8001 not in cut.text and "12000 more characters" in cut.text


@pytest.mark.promise("K392", "K393", "K394", "K395", "K396", "K397", "K398")
async def test_write_file_and_patch_change_exactly_what_they_say(desk):
    work = desk.work
    written = await desk.call("write_file", {"path": "sub/new.txt", "content": "hi é"})
    assert end(written) == ("ok", "Wrote 4 characters to sub/new.txt.")
    assert (work / "sub" / "new.txt").read_bytes() == "hi é".encode()
    outside = await desk.call("write_file", {"path": "../x", "content": "no"})
    assert outside.status is Status.REFUSED and outside.text.endswith(".") and not (work.parent / "x").exists()
    assert end(await desk.call("write_file", {"path": "y"})) == ("failed", NOTHING)
    assert (await desk.call("write_file", {"path": "y", "content": ""})).text.startswith("Wrote 0 characters")

    async def patch(path, old, new):
        return await desk.call("patch", {"path": path, "old_string": old, "new_string": new})

    assert end(await patch("notes.txt", "beta gamma", "BETA")) == ("ok", "Updated notes.txt.")
    assert (work / "notes.txt").read_text() == "alpha\nBETA\nneedle here\n"
    twice = await patch("dup.txt", "x=1", "x=2")
    assert twice.status is Status.REFUSED and "longer" in twice.text and (work / "dup.txt").read_text() == "x=1\nx=1\n"
    assert (await patch("ws.txt", "def f(a, b):", "def g():")).status is Status.FAILED
    assert (await patch("ws.txt", "def f( a, b):", "def g():")).ok
    assert (work / "ws.txt").read_text().startswith("def g():")
    for old in ("zzz", "  "):
        assert end(await patch("notes.txt", old, "y")) == ("failed", NOTHING)


@pytest.mark.promise("K144", "K146", "K399", "K400", "K401", "K402", "K153", "K150", "K151", "K106")
async def test_search_files_finds_cuts_and_stays_inside(desk):
    work = desk.work
    (work / "sub").mkdir()
    (work / "a.txt").write_text("thimble\n")
    (work / "sub" / "b.txt").write_text("thimble\n")

    async def search(query, **more):
        return await desk.call("search_files", {"query": query, **more})

    assert sorted((await search("thimble")).text.splitlines()) == ["a.txt:1:thimble", "sub/b.txt:1:thimble"]
    assert (await search("thimble", path="sub")).text == "b.txt:1:thimble"
    assert (await search("needle")).text == "notes.txt:3:needle here"
    assert end(await search("nothing-like-this")) == ("ok", "No matches found.")
    assert end(await search("root:")) == ("ok", "No matches found.")
    (work / "fewer.txt").write_text("pin\n" * 79)
    assert (await search("pin")).text.splitlines() == [f"fewer.txt:{row}:pin" for row in range(1, 80)]
    (work / "big.txt").write_text("".join(f"needle {number}\n" for number in range(200)))
    rows = (await search("needle")).text.splitlines()
    assert len(rows) == 81 and all(row.count(":") >= 2 for row in rows[:80]) and "list cut at 80" in rows[80]
    outside = await search("x", path="../..")
    assert (outside.status, outside.detail) == (Status.REFUSED, "") and outside.text == "That folder is outside my workspace."
    missing = await search("x", path="nodir")
    assert missing.status is Status.REFUSED and "nodir" in missing.text
    assert end(await search("")) == ("failed", NOTHING)

    await desk.turn("look up there", [call("search_files", {"query": "x", "path": "../.."})], "It is outside.")
    assert [result.text for result in desk.results()] == ["That folder is outside my workspace."]
    for name, more in (("read_file", {}), ("write_file", {"content": ""}), ("patch", {"old_string": "a", "new_string": "b"})):
        refused = await desk.call(name, {"path": "../x", **more})
        assert refused.status is Status.REFUSED and "outside my workspace" in refused.text


@pytest.mark.promise("K149")
async def test_the_faces_of_search_files_are_those_that_it_names_and_done_is_none(desk):
    await desk.turn("look", [call("search_files", {"query": "needle"})], [call("search_files", {"query": ""})], "Done.")
    faces = [data["face"] for _, data in kinds(await desk.events(), Kind.FACE) if data["why"] in ("focus", "fail")]
    assert faces == ["thinking", "thinking", "confused"]


RG = """#!/bin/sh
# A ripgrep for this test: it takes an expression where the walk takes the letters, and prints as the real one does.
while [ "$1" != -e ]; do shift; done
/bin/grep -rn -- "$2" . | while IFS= read -r row; do printf '%s\\n' "${row#./}"; done
"""


def ripgrep(work: Path) -> str:
    """The working folder filled, with a ripgrep in it; gives the path to search for programs."""
    fill(work)
    (work / "bin").mkdir()
    (work / "bin" / "rg").write_text(RG)
    (work / "bin" / "rg").chmod(0o755)
    return f"{work}/bin:/usr/bin:/bin"


@pytest.mark.promise("K153")
async def test_search_files_says_that_a_list_was_cut_only_of_one_that_was(tmp_path):
    work = tmp_path / "home" / "files"
    async with kotoba(tmp_path, files("search_files"), environ={"PATH": ripgrep(work)}) as room:
        (work / "many.txt").write_text("pin\n" * 80)
        whole = (await room.call("search_files", {"query": "pin"})).text.splitlines()
        (work / "many.txt").write_text("pin\n" * 200)
        *rows, cut = (await room.call("search_files", {"query": "pin"})).text.splitlines()
    assert whole == rows == [f"many.txt:{row}:pin" for row in range(1, 81)]
    assert "list cut at 80 matches; 120 more" in cut


@pytest.mark.promise("K145")
async def test_search_files_finds_the_same_with_ripgrep_and_without_granted_programs_or_not(tmp_path):
    with_ripgrep = ripgrep(tmp_path / "home" / "files")
    expressions, literal = [], []
    for path in (with_ripgrep, "/usr/bin:/bin"):
        async with kotoba(tmp_path, files("search_files"), environ={"PATH": path}) as room:
            for forbidden in (False, True):
                room.host.plugins.forbid("wheel", "subprocess", forbidden)
                literal.append((await room.call("search_files", {"query": "beta"})).text)
                expressions.append((await room.call("search_files", {"query": "b.ta"})).text)
    assert literal == ["notes.txt:2:beta gamma"] * 4
    assert expressions == ["notes.txt:2:beta gamma", *["No matches found."] * 3]


@pytest.mark.promise("K136")
async def test_patch_keeps_its_family_where_the_owner_lets_files_name_it(tmp_path):
    async with kotoba(tmp_path, files("patch"), source={"families": True}) as room:
        assert [(tool.name, tool.toolset) for tool in room.host.tools.all()] == [("patch", "file")]
        await room.turn("hello", "Hi.")
        assert room.offered() == ["patch"]


@pytest.mark.promise("K403", "K404", "K405", "K409", "K410", "K413", "K417")
async def test_the_tools_of_a_conversation_end_as_they_did(tmp_path):
    guides = tmp_path / "home" / "files" / "skills"
    guides.mkdir(parents=True)
    for name, text in skills().items():
        (guides / name).write_bytes(text)
    names = ("todo", "clarify", "session_search", "skill_list", "skill_view", "open_link", "web_search")
    async with kotoba(tmp_path, files(*names)) as room:
        chat = room.host.store.chats.create("", "python").id

        async def todo(arguments):
            return await room.call("todo", arguments, chat=chat)

        nothing = await todo({})
        assert nothing.status is Status.REFUSED and nothing.text.startswith("No plan open yet")
        await room.events()
        said = [
            (await todo(step)).text
            for step in ({"steps": ["one", "two"]}, {"done": [1], "active": 2}, {"done": [9]}, {"close": True})
        ]
        assert said == [
            "Plan open: 2 steps. 0 done. Next: step 1.",
            "Plan open: 2 steps. 1 done. Next: step 2.",
            "Plan open: 2 steps. 1 done. Next: step 2. Ignored (no such step, or already settled): done=9.",
            "Plan abandoned. 1/2 steps completed.",
        ]
        plans = [data["list"] for _, data in kinds(await room.events(), Kind.TASKS)]
        assert [plan["status"] for plan in plans] == ["open", "open", "open", "abandoned"]
        assert [[(task["text"], task["status"]) for task in plan["tasks"]] for plan in plans[:2]] == [
            [("one", "pending"), ("two", "pending")],
            [("one", "done"), ("two", "active")],
        ]

        assert end(await room.call("clarify", {"question": "Which one?"})) == ("ok", "Which one?")
        alone = await room.call("clarify", {"question": "Which one?"}, mode="work")
        assert alone.status is Status.REFUSED and "NOT asked" in alone.text
        asked, card = await shown(room, "clarify", {"question": "Which one?"}, mode="work")
        assert room.host.cards.answer(card["id"], "the red one")
        assert 'answered: "the red one"' in (await asked).text

        assert end(await room.call("session_search", {"query": "tea"})) == (
            "ok",
            "Nothing came up in our past conversations about that.",
        )
        assert end(await room.call("session_search", {"query": ""})) == ("ok", "No search terms were given.")

        listed = await room.call("skill_list")
        assert listed.ok and len(listed.text.splitlines()) == 3
        body = await room.call("skill_view", {"name": "research"})
        assert body.ok and body.text == skills()["research.md"].decode()
        for name in ("nope", "../../etc/passwd"):
            assert end(await room.call("skill_view", {"name": name})) == ("failed", NOTHING)

        assert (await room.call("open_link", {"url": "ftp://x"}, attended=True)).status is Status.REFUSED
        unseen = await room.call("open_link", {"url": "https://example.com", "why": "an example"})
        assert unseen.status is Status.REFUSED and unseen.text.startswith("There is no screen")
        opened, card = await shown(room, "open_link", {"url": "https://example.com", "why": "an example"})
        assert (await opened).ok and (card["kind"], card["url"]) == ("link", "https://example.com")

        await room.turn("hello", "Hi.")
        assert "web_search" not in room.offered() and room.requests[-1].provided == ("web_search",)
        there, elsewhere = (Direct("openai-responses", "gpt-5", key="none", base_url=at) for at in ("", "http://127.0.0.1:9/"))
        assert [tool.kind for tool in there._parameters(room.requests[-1]).native_tools] == ["web_search"]
        assert elsewhere._parameters(room.requests[-1]).native_tools == []
        provided = await room.call("web_search")
        assert (provided.status, provided.text) == (Status.OK, "")


@pytest.mark.promise("K406", "K407", "K408")
async def test_memory_keeps_one_fact_once_and_finds_it_again(tmp_path):
    async with kotoba(tmp_path, files("memory_write", "memory_recall")) as room:

        async def keep(fact, topic="preferences"):
            return await room.call("memory_write", {"fact": fact, "topic": topic})

        assert end(await room.call("memory_recall")) == ("ok", "I haven't saved anything about you yet.")
        assert end(await keep("Likes green tea")) == ("ok", "Saved under 'preferences': Likes green tea")
        again = await keep("Likes green tea")
        assert again.ok and again.text.startswith("Already remembered")
        for fact in ("A la usuaria le gusta el té", "Likes tea and has a cat"):
            refused = await keep(fact)
            assert refused.status is Status.REFUSED and refused.text.startswith("NOT SAVED")
        assert (await keep("")).status is Status.REFUSED
        found = await room.call("memory_recall", {"query": "tea"})
        assert found.ok and "Likes green tea (preferences)" in found.text
        nothing = await room.call("memory_recall", {"topic": "zebra"})
        assert nothing.ok and nothing.text.startswith("Nothing under 'zebra' yet")
        await keep("Their favorite color is blue")
        assert "REPLACED" in (await keep("Their favorite color is green")).text
        kept = (tmp_path / "home" / "files" / "memory" / "topics" / "preferences.md").read_text()
        assert kept.splitlines()[-2:] == ["- Likes green tea", "- Their favorite color is green"]


FETCH = ping(
    """
    import web_extract
    answer = await web_extract.execute({"url": args["url"]}, ctx)
    return repr((answer, ctx.web_extract_error))
    """,
    name="fetch",
)


@pytest.mark.promise("K414")
async def test_web_extract_makes_no_connection_to_this_machine_or_its_files(tmp_path, unused_tcp_port):
    met = []
    server = await asyncio.start_server(lambda *_: met.append(1), "127.0.0.1", unused_tcp_port)
    extra = {**files("web_extract", plugin="p"), "p/fetch.py": FETCH}
    async with server, kotoba(tmp_path, extra, tools_env=sys.prefix) as room:
        for url, why in (
            (f"http://127.0.0.1:{unused_tcp_port}/", "internal"),
            (f"http://localhost:{unused_tcp_port}/", "internal"),
            ("file:///etc/passwd", "http(s)"),
        ):
            assert end(await room.call("web_extract", {"url": url})) == ("failed", NOTHING)
            told = (await room.call("fetch", {"url": url})).text
            assert told.startswith("(None, ") and why in told
    assert met == []
