"""Accounts and keys: kept for their owner, given to single plugins, resolved while a call runs, and told to nobody else."""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from structlog.testing import capture_logs
from tests.keryx.services import service
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.agent.scripted import call
from etui.errors import UsageError
from etui.home import write_private
from etui.owner.accounts import Accounts
from etui.owner.secrets import Secrets
from etui.store import Store

pytestmark = pytest.mark.asyncio(loop_scope="module")
ASK = """
import json
from core.credentials_manager import credentials
"""
ANY = tool(
    "ask_credentials",
    head=ASK,
    body="""
    found = getattr(credentials, arguments["what"])(*arguments.get("args", []))
    return json.dumps(found), True
    """,
)
MAIL = tool(
    "account_label",
    head="from core.chat.function_manager import scope_email\n" + ASK,
    body="""
    account = credentials.get_email_account(scope_email.get())
    return (account["address"], True) if account else ("Email not configured.", False)
    """,
)
FIFTH = tool(
    "fifth",
    signature="function_name, arguments, config, plugin_settings=None, credentials=None",
    body="""
    import hashlib
    return hashlib.sha256(credentials.get_llm_api_key("claude").encode()).hexdigest(), True
    """,
)
LEAK = tool(
    "leak",
    head=ASK + "from urllib.parse import quote\n",
    body="""
    secret = credentials.get_email_account("work")["app_password"]
    if arguments.get("how") == "raise":
        raise RuntimeError(f"bad password {secret}")
    if arguments.get("how") == "long":
        return f"{secret} " * 20_000, True
    if arguments.get("how") == "written":
        odd = credentials.get_email_account("odd")
        return json.dumps([odd["address"], odd["app_password"], quote(odd["app_password"])]), True
    return f"I signed in with {secret}; Alice has alice@example.com.", True
    """,
)
SEND = tool(
    "send_mail",
    "contacts",
    head="""
    import json
    import urllib.request

    from core.credentials_manager import credentials

    PEOPLE = {1: ("Alice", "alice@example.com"), 2: ("Bob", "bob@example.com")}
    """,
    body="""
    if function_name == "contacts":
        return json.dumps([{"id": number, "name": name} for number, (name, _) in PEOPLE.items()]), True
    account = credentials.get_email_account("work")
    name, address = PEOPLE[arguments["id"]]
    data = json.dumps({"to": address, "password": account["app_password"], "text": arguments["text"]}).encode()
    with urllib.request.urlopen(urllib.request.Request(account["smtp_server"], data=data)) as answer:
        answer.read()
    return f"Sent to {name}.", True
    """,
)
SECRET = "swordfish-4711"
FILES = {
    "plugins/any/tools/any.py": ANY,
    "plugins/stranger/tools/stranger.py": ANY.replace("ask_credentials", "ask_as_stranger"),
    "plugins/email/plugin.json": manifest("email", "tools/email_tool.py", scopes=[{"key": "email"}]),
    "plugins/email/tools/email_tool.py": MAIL,
    "plugins/fifth/tools/fifth.py": FIFTH,
    "plugins/leaky/tools/leak.py": LEAK,
    "plugins/sender/tools/send.py": SEND,
}
WORK = {
    "address": "work@example.com",
    "app_password": SECRET,
    "imap_server": "imap.example.com",
    "smtp_server": "smtp.example.com",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("sapphire"), FILES, limit=None) as opened:
        keep = opened.host.accounts.keep
        keep("mail", "work", WORK)
        keep("mail", "home", {"address": "home@example.com", "app_password": "other-secret"})
        for plugin in ("any", "email", "leaky", "sender"):
            opened.host.accounts.give(plugin, "mail", "*")
        yield opened


async def asked(room: Room, what: str, *args: object, name: str = "ask_credentials") -> Any:
    return await room.value(name, {"what": what, "args": list(args)})


@pytest.mark.promise("S171")
async def test_a_tool_takes_the_account_of_its_chat(room):
    for scope in ("work", "home"):
        chat = room.host.store.chats.create("", "python").id
        room.host.choosing.choose(chat, "email_scope", scope)
        assert await room.ran("account_label", chat=chat) == (f"{scope}@example.com", True)
    assert await room.ran("account_label") == ("Email not configured.", False)


@pytest.mark.promise("S472")
async def test_accounts_have_the_named_fields_and_an_unknown_scope_none(room):
    keep, give = room.host.accounts.keep, room.host.accounts.give
    keep("bitcoin", "main", {"label": "Savings", "wif": "L1secretwif"})
    keep("gcal", "default", {"label": "Calendar", "client_id": "me", "client_secret": "c-secret", "refresh_token": "r-token"})
    for kind in ("bitcoin", "gcal"):
        give("any", kind, "*")
    mail = await asked(room, "get_email_account", "home")
    assert {"address", "app_password", "auth_type", "imap_server", "smtp_server", "imap_port", "smtp_port"} <= mail.keys()
    assert (mail["address"], mail["auth_type"], mail["imap_port"], mail["smtp_port"]) == (
        "home@example.com",
        "password",
        993,
        465,
    )
    assert await asked(room, "get_bitcoin_wallet", "main") == {"label": "Savings", "wif": "•••"}
    calendar = await asked(room, "get_gcal_account", "default")
    assert (calendar["client_id"], calendar["calendar_id"]) == ("me", "primary")
    assert set(await asked(room, "get_gcal_tokens_snapshot", "default")) == {"access_token", "refresh_token", "expires_at"}
    for what in ("get_email_account", "get_bitcoin_wallet", "get_gcal_account", "get_gcal_tokens_snapshot"):
        assert not await asked(room, what, "nowhere")
        assert not await asked(room, what, "default", name="ask_as_stranger")


@pytest.mark.promise("S471")
async def test_a_key_for_a_model_reaches_the_plugin_that_was_given_it(room):
    room.host.accounts.keep("llm", "claude", {"api_key": "sk-claude-12345"})
    assert await asked(room, "get_llm_api_key", "claude") == ""
    room.host.accounts.give("any", "llm", "claude")
    shown = await room.ran("ask_credentials", {"what": "get_llm_api_key", "args": ["claude"]})
    assert shown == ('"•••"', True)
    assert await asked(room, "get_llm_api_key", "claude", name="ask_as_stranger") == ""
    assert await asked(room, "get_env_var_name", "claude") == "ANTHROPIC_API_KEY"
    assert await asked(room, "get_env_var_name", "nobody") == ""
    room.host.accounts.take("any", "llm", "claude")
    assert await asked(room, "get_llm_api_key", "claude") == ""


@pytest.mark.promise("S019")
async def test_a_secret_is_resolved_as_it_is_at_the_time_of_the_call(room):
    for key in ("first-key", "second-key"):
        room.host.accounts.keep("llm", "claude", {"api_key": key})
        room.host.accounts.give("fifth", "llm", "claude")
        assert (await room.ran("fifth"))[0] == hashlib.sha256(key.encode()).hexdigest()


@pytest.mark.promise("S474")
async def test_the_token_of_a_home_and_the_servers_come_as_a_text_and_a_list(room):
    assert await asked(room, "get_ha_token") == ""
    assert await asked(room, "get_ssh_servers") == []
    room.host.accounts.keep("home_assistant", "whatever", {"token": "ha-long-lived"})
    for name in ("attic", "cellar"):
        room.host.accounts.keep("ssh", name, {"host": f"{name}.lan", "user": "me", "port": "2222"})
    for kind in ("home_assistant", "ssh"):
        room.host.accounts.give("any", kind, "*")
    assert await asked(room, "get_ha_token") == "•••"
    servers = await asked(room, "get_ssh_servers")
    assert [(one["name"], one["host"], one["port"], one["enabled"]) for one in servers] == [
        ("attic", "attic.lan", 2222, True),
        ("cellar", "cellar.lan", 2222, True),
    ]
    assert (await asked(room, "get_ssh_server", "attic"))["host"] == "attic.lan"


@pytest.mark.promise("S473")
async def test_new_tokens_are_there_after_a_restart_and_in_no_log_and_no_request(tmp_path):
    files = {
        "plugins/any/tools/any.py": ANY,
        "plugins/fifth/tools/t.py": tool(
            "same",
            head=ASK,
            body="""
        account, tokens = credentials.get_email_account("work"), credentials.get_gcal_tokens_snapshot("cal")
        return str(account["oauth_access_token"] == "n" + "ew-mail-token" and tokens["access_token"] == "n" + "ew-cal-token"
                   and account["oauth_refresh_token"] == "old-refresh" and account["oauth_expires_at"] == 1234.5), True
        """,
        ),
    }
    async with sapphire(tmp_path, files) as room:
        accounts = room.host.accounts
        accounts.keep("mail", "work", {"address": "a@b.c", "auth_type": "oauth2", "oauth_refresh_token": "old-refresh"})
        accounts.keep("gcal", "cal", {"client_id": "me"})
        for plugin in ("any", "fifth"):
            accounts.give(plugin, "mail", "work")
            accounts.give(plugin, "gcal", "*")
        with capture_logs() as logs:
            mail = {"what": "update_email_oauth_tokens", "args": ["work", "new-mail-token", 1234.5, ""]}
            cal = {"what": "update_gcal_tokens", "args": ["cal", "", "new-cal-token", 99]}
            assert await room.ran("ask_credentials", mail) == ("true", True)
            assert await room.ran("ask_credentials", cal) == ("true", True)
            nothing = {"what": "update_gcal_tokens", "args": ["other", "", "x-token", 99]}
            assert await room.ran("ask_credentials", nothing) == ("false", True)
        assert "new-mail-token" not in str(logs)
    async with sapphire(tmp_path, {}) as room:
        await room.turn("go", [call("same")], "Done.")
        assert room.results()[-1].text == "True"
        assert "new-mail-token" not in msgspec.json.encode(room.requests).decode()


@pytest.mark.promise("S241", "S242", "S244")
async def test_what_a_tool_resolves_itself_stands_in_no_request_log_event_or_audit_line(room):
    with service(lambda asked: (200, {})) as box:
        room.host.accounts.keep("mail", "work", {**WORK, "smtp_server": box.url})
        await room.events()
        room.model.asked.clear()
        with capture_logs() as logs:
            await room.turn("write", [call("contacts")], [call("send_mail", {"id": 1, "text": "hi"})], "Sent.")
        assert [one.body for one in box.asked] == [{"to": "alice@example.com", "password": SECRET, "text": "hi"}]
    texts = [message.text for message in room.results()[-2:]]
    assert json.loads(texts[0]) == [{"id": 1, "name": "Alice"}, {"id": 2, "name": "Bob"}]
    assert texts[1] == "Sent to Alice."
    told = [msgspec.json.encode(event, enc_hook=str).decode() for event in await room.events()]
    audit = [msgspec.json.encode(entry, enc_hook=str).decode() for entry in room.host.store.journal.audit()]
    requests = msgspec.json.encode(room.requests, enc_hook=str).decode()
    for where in (*told, *audit, requests, str(logs)):
        assert SECRET not in where
        assert "alice@example.com" not in where


@pytest.mark.promise("S243")
async def test_an_address_in_a_result_reaches_the_model_and_a_kept_secret_does_not(room):
    room.model.asked.clear()
    await room.turn("leak", [call("leak")], [call("leak", {"how": "raise"})], "Done.")
    said, raised = (message.text for message in room.results()[-2:])
    assert said == "I signed in with •••; Alice has alice@example.com."
    assert raised == "Error executing leak: bad password •••"
    entry = room.host.store.journal.recent("leak", 1)[0]
    assert SECRET not in str(entry)
    outcome = await room.call("leak", {"how": "long"})
    assert SECRET not in outcome.text
    assert SECRET.encode() not in room.host.store.blobs.get(outcome.files[0].id).data
    # A secret is one in the spelling of JSON or of an address too.
    room.host.accounts.keep("mail", "odd", {"address": "o@example.com", "app_password": 'pä"ss w\\ord'})
    assert await room.value("leak", {"how": "written"}) == ["o@example.com", "•••", "•••"]
    room.host.accounts.forget("mail", "odd")


async def test_the_owner_sees_what_is_no_secret_and_that_a_secret_is_there(room):
    found = {(one.kind, one.name): one for one in room.host.accounts.all()}
    assert found["mail", "home"].values == {"address": "home@example.com"}
    assert found["mail", "home"].set == ("app_password",)
    assert "any" in found["mail", "home"].plugins
    assert "other-secret" not in str(found)


async def test_accounts_lie_in_a_file_that_is_the_owners_alone(room):
    file = room.host.home / "accounts.sealed"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path for path in room.host.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []


async def test_a_secret_that_is_left_out_stays_and_an_empty_one_goes(room):
    keep = room.host.accounts.keep
    keep("mail", "kept", {"address": "a@example.com", "app_password": "stays-there"})
    keep("mail", "kept", {"address": "b@example.com"})
    assert (await asked(room, "get_email_account", "kept"))["address"] == "b@example.com"
    found = {one.name: one for one in room.host.accounts.all() if one.kind == "mail"}
    assert found["kept"].set == ("app_password",)
    keep("mail", "kept", {"address": "b@example.com", "app_password": ""})
    found = {one.name: one for one in room.host.accounts.all() if one.kind == "mail"}
    assert found["kept"].set == ()
    assert room.host.accounts.forget("mail", "kept")
    assert not room.host.accounts.forget("mail", "kept")


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("nothing", "a", {}),
        ("mail", "a/b", {"address": "x"}),
        ("mail", "", {"address": "x"}),
        ("mail", "a", {}),
        ("mail", "a", {"address": "x", "color": "red"}),
        ("mail", "a", {"address": "x", "imap_port": "many"}),
        ("mail", "a", {"address": "x", "imap_port": float("inf")}),
        ("mail", "a", {"address": "x", "imap_port": 10**400}),
        ("mail", "a", {"address": "x", "auth_type": "magic"}),
        ("mail", "a", {"address": "x" * 4001}),
        ("ssh", "a", {"host": "h", "user": "u", "enabled": "maybe"}),
    ],
)
async def test_what_is_no_account_is_refused(room, kind, name, values):
    with pytest.raises(UsageError):
        room.host.accounts.keep(kind, name, values)


async def test_two_changes_at_once_are_both_kept(room):
    async def keep(number: int) -> None:
        values = {"host": f"h{number}", "user": "me"}
        await asyncio.to_thread(room.host.accounts.keep, "ssh", f"many{number}", values)

    await asyncio.gather(*(keep(number) for number in range(8)))
    assert {f"many{number}" for number in range(8)} <= set(room.host.accounts.names("ssh"))


async def test_any_text_in_an_account_comes_out_as_it_went_in(room):
    odd = 'ü"\\ 漢 𝄞 \u2028 #'
    room.host.accounts.keep("bitcoin", "odd", {"label": odd, "wif": "some-wif-key"})
    assert (await asked(room, "get_bitcoin_wallet", "odd"))["label"] == odd


async def test_a_file_that_cannot_be_read_hands_out_nothing_and_is_told(tmp_path: Path):
    (tmp_path / "accounts.toml").write_text("= nonsense")
    store = Store.open(":memory:")
    accounts = Accounts(Secrets(tmp_path / "accounts.toml", lambda: None, write_private), store.values)
    assert "cannot be read" in accounts.trouble()
    assert accounts.all() == ()
    store.close()
