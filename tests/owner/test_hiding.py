"""What the owner gave a plugin in secret is masked in all that the plugin says: results, hooks, routes, lines, questions."""

from __future__ import annotations

import asyncio

from structlog.testing import capture_logs
from tests.sapphire.homes import Room, manifest, sapphire, tool
from tests.spine.homes import host_at, tools_in

from etui.agent.scripted import call
from etui.events import Kind
from etui.home import write_private
from etui.owner.hiding import Hiding
from etui.owner.secrets import Secrets

SECRET = "swordfish-4711"
FOUR = "function_name, arguments, config, plugin_settings=None"
HOOKS = """
from core.credentials_manager import credentials


def secret():
    return credentials.get_email_account("work")["app_password"]


def prompt_inject(event):
    event.context_parts.append("The password is " + secret())


def post_execute(event):
    raise RuntimeError("bad password " + secret())


def route(settings):
    return {"account": secret(), "setting": settings["token"], "parts": ["x" + secret()], "plain": "Rome"}


def failing():
    raise RuntimeError("bad password " + secret())
"""
FILES = {
    "plugins/p/plugin.json": manifest(
        "p",
        "a.py",
        settings=[{"key": "token", "type": "string", "widget": "password", "default": ""}],
        hooks={"prompt_inject": "all.py", "post_execute": "all.py"},
        routes=[
            {"method": "GET", "path": "secrets", "handler": "all.py:route"},
            {"method": "GET", "path": "fails", "handler": "all.py:failing"},
        ],
    ),
    "plugins/p/a.py": tool("a", signature=FOUR, body="return 'It is ' + plugin_settings['token'], True"),
    "plugins/p/all.py": HOOKS,
}


async def opened(room: Room) -> None:
    room.host.accounts.keep("mail", "work", {"address": "work@example.com", "app_password": SECRET})
    room.host.accounts.give("p", "mail", "work")
    await room.host.installed.save("p", {"token": "sesame-street"})


async def test_what_tools_hooks_and_routes_return_holds_no_secret_of_the_owners(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await opened(room)
        with capture_logs() as logs:
            await room.turn("hello", [call("a")], "Done.")
        assert room.results()[-1].text == "It is •••"
        assert "The password is •••" in str(room.requests) and SECRET not in str(room.requests)
        assert SECRET not in str(logs) and "bad password •••" in str(logs)
        assert "bad password •••" in str(room.reasons("p")) and SECRET not in str(room.host.problems.all())
        plugin = room.host.registry.snapshot.plugins["p"]
        secrets, fails = (one for one in plugin.handlers if one.kind == "route")
        arguments = {"path": {}, "body": {}, "settings": {"token": "sesame-street"}}
        run = room.host.happening.handlers.run
        assert (await run(plugin, secrets, arguments)).data == {
            "account": "•••",
            "setting": "•••",
            "parts": ["x•••"],
            "plain": "Rome",
        }
        failed = await run(plugin, fails, arguments)
        assert not failed.ok and SECRET not in str(failed) and "•••" in failed.text + failed.detail


PEEK = """
import os
from pathlib import Path

from etui import tool


@tool(risk="exec")
def peek(home: str) -> dict:
    '''Look into the home.'''
    told = {}
    for name in ("secrets.sealed", "key"):
        try:
            told[name] = Path(home, name).read_text()
        except OSError as error:
            told[name] = type(error).__name__
    return {**told, "variable": "ETUI_KEY" in os.environ}
"""


async def test_no_worker_reads_the_sealed_file_or_the_key(tmp_path):
    tools_in(tmp_path, PEEK)
    Secrets(tmp_path / "secrets.toml", lambda: None, write_private).give("other", "TOKEN", SECRET)
    async with host_at(tmp_path, allow_exec="allow") as host:
        session = host.session("console")
        outcome = await session.call(session.new_call("peek", {"home": str(tmp_path)}))
        denied = "PermissionError"
        assert outcome.data == {"secrets.sealed": denied, "key": denied, "variable": False}, outcome


LINES = """
import os

from etui import Context, tool


@tool
def speak(ctx: Context) -> str:
    '''Speak.'''
    secret = os.environ["TOKEN"]
    ctx.say("It is " + secret)
    ctx.say("x" * 1995 + secret)
    ctx.progress(0.5, "half of " + secret)
    ctx.ask("Is it " + secret + "?", [secret, "no"])
    return secret
"""


async def test_lines_progress_and_questions_of_a_running_tool_hold_none_either(tmp_path):
    tools_in(tmp_path, LINES)
    Secrets(tmp_path / "secrets.toml", lambda: None, write_private).give("mine", "TOKEN", SECRET)
    async with host_at(tmp_path) as host:
        session = host.session("console", attended=True)
        async with host.hub.listen() as heard:
            calling = asyncio.create_task(session.call(session.new_call("speak", {})))
            told = []
            async for event in heard:
                told.append(event)
                if event.kind is Kind.CARD_OPENED:
                    break
            [card] = host.cards.open()
            assert card.question == "Is it •••?"
            assert host.cards.answer(card.id, SECRET)
            outcome = await calling
        assert outcome.text == "•••"
        lines = [one.data["text"] for one in told if one.kind is Kind.SAID]
        assert lines[0] == "It is •••" and "swordfish"[:3] not in lines[1] and len(lines) == 2
        [progress] = [one.data for one in told if one.kind is Kind.CALL_PROGRESS]
        assert progress == {"fraction": 0.5, "text": "half of •••"}


def test_a_plugins_secrets_are_those_of_every_place_and_of_no_other_plugin():
    hiding = Hiding(lambda plugin: frozenset({"first"} if plugin == "a" else ()), lambda plugin: frozenset({"second"}))
    assert hiding.line("a", {"said": ["first, second"]}) == {"said": ["•••, •••"]}
    assert hiding.line("b", "first, second") == "first, •••"
