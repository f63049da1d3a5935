"""The plugins' page of the console in real Chromium: titles, settings of every kind, what is asked before, other names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.sapphire.homes import manifest, save, tool
from tests.web.chromium import chromium, picture
from tests.web.pages import page_at
from tests.web.sites import Site, hearing, site_at, until

from etui.events import Kind

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
ROWS = [
    {"key": "city", "type": "string", "label": "City", "default": "Oslo", "placeholder": "a town", "help": "Where you live."},
    {"key": "timeout", "type": "number", "label": "Timeout", "default": 30},
    {"key": "loud", "type": "boolean", "label": "Loud", "default": False},
    {
        "key": "size",
        "type": "select",
        "label": "Size",
        "default": "s",
        "options": [{"label": "Small", "value": "s"}, {"label": "Large", "value": "l"}],
    },
    {
        "key": "depth",
        "type": "number",
        "widget": "radio",
        "label": "Depth",
        "default": 1,
        "options": [{"label": "One", "value": 1}, {"label": "Two", "value": 2}],
    },
    {"key": "note", "type": "textarea", "label": "Note", "default": "", "rows": 3, "tab": "More"},
    {"key": "names", "type": "list", "label": "Names", "default": [], "tab": "More"},
    {"key": "token", "type": "password", "label": "Token", "default": "", "tab": "More"},
    {
        "key": "mode",
        "type": "string",
        "widget": "select",
        "label": "Mode",
        "default": "safe",
        "options": [{"label": "Safe", "value": "safe"}, {"label": "Wild", "value": "wild"}],
        "confirm": {"values": ["wild"], "title": "Really wild?", "warnings": ["It breaks things."], "buttonLabel": "Be wild"},
    },
    {
        "key": "boxes",
        "type": "list",
        "label": "Boxes",
        "default": [],
        "options_endpoint": "/api/plugin/kinds/boxes",
        "data_key": "boxes",
        "value_field": "id",
    },
    {
        "key": "join",
        "type": "button",
        "widget": "button",
        "label": "Account",
        "button_label": "Connect",
        "action": "/api/plugin/kinds/connect",
        "status": "/api/plugin/kinds/state",
    },
    {"key": "evil", "type": "button", "label": "Evil", "action": "/api/plugins/kinds/grant"},
]
ROUTES = """
PRESSED = []


def boxes(**given):
    return {"boxes": [{"id": "a", "name": "Alpha"}, {"id": "b", "name": "Beta"}, {"id": "c", "name": "Gamma"}]}


def connect(**given):
    PRESSED.append(1)
    return {"ok": True}


def state(**given):
    return {"status": f"pressed {len(PRESSED)}"}
"""
FILES = {
    "plugins/kinds/plugin.json": manifest(
        "kinds",
        "a.py",
        icon="🎛️",
        settings=ROWS,
        routes=[
            {"method": "GET", "path": "boxes", "handler": "r.py:boxes"},
            {"method": "POST", "path": "connect", "handler": "r.py:connect"},
            {"method": "GET", "path": "state", "handler": "r.py:state"},
        ],
    ),
    "plugins/kinds/a.py": tool(
        "settings_now",
        "shared",
        signature="function_name, arguments, config, plugin_settings",
        body="import json\nreturn json.dumps({**plugin_settings, 'token': plugin_settings['token'][::-1]}), True",
    ),
    "plugins/kinds/r.py": ROUTES,
    "plugins/other/a.py": tool("shared"),
    "plugins/other/plugin.json": manifest("other", "a.py"),
    "functions/limits.py": tool("limits", head='SETTINGS = {"X_LIMIT": 3}\nSETTINGS_HELP = {"X_LIMIT": "How many at most."}\n'),
}
TITLES = {
    "t1": {"short_display_name": "First Title", "display_name": "Not this", "short_name": "Nor this"},
    "t2": {"display_name": "Second Title", "short_name": "Not this"},
    "t3": {"short_name": "Third Title", "description": "Not this."},
    "t4": {"description": "Fourth title here. And no more."},
    "t5": {},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("etui")
    titles = {f"plugins/{name}/plugin.json": json.dumps({"name": name, **said}) for name, said in TITLES.items()}
    save(home / "sapphire", {**FILES, **titles}, on=("kinds", "other"))
    async with site_at(home, tools="", shelf=True) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


def stored(site: Site) -> dict[str, object]:
    return json.loads((site.host.home / "sapphire/user/webui/plugins/kinds.json").read_text())


async def told(site: Site) -> dict[str, object]:
    session = site.host.session("python")
    return json.loads((await session.call(session.new_call("settings_now", {}))).text)


async def kept(page: Page) -> None:
    """Save, and wait until it is."""
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".plugin-form .saved")).to_have_text("Saved.")
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


@pytest.mark.promise("S403", "S404")
async def test_a_plugin_stands_under_its_title_and_is_switched_on_there(site, browser):
    async with page_at(site, browser, "plugins") as page:
        rows = page.locator(".plugin-row .row-name")
        await expect(rows).to_have_text(
            ["First Title", "Fourth title here", "🎛️ kinds", "limits", "other", "Second Title", "t5", "Third Title"]
        )
        await page.get_by_role("switch", name="Everything of t1 is off").click()
        await expect(page.get_by_role("switch", name="Everything of t1 is on")).to_be_visible()
        assert "plugin:t1" not in site.host.tools.off()
        await picture(page, "plugins", whole=True)


@pytest.mark.promise("S176", "S415", "S419")
async def test_a_setting_of_each_kind_has_its_control_and_is_kept_as_its_kind(site, browser):
    async with page_at(site, browser, "plugins/kinds") as page:
        form = page.locator(".plugin-form")
        await expect(form.get_by_label("City")).to_have_attribute("placeholder", "a town")
        await expect(form.locator("#plugin-city-help")).to_have_text("Where you live.")
        await expect(form.get_by_label("Timeout")).to_have_attribute("type", "number")
        await expect(form.locator("#plugin-token")).to_have_attribute("type", "password")
        await expect(form.locator("legend")).to_have_text(["More"])
        await picture(page, "plugin-form", whole=True)
        await form.get_by_label("City").fill("Rome")
        await form.get_by_label("Timeout").fill("5")
        await form.get_by_role("switch", name="Loud").click()
        await form.get_by_label("Size").select_option("Large")
        await form.get_by_role("radio", name="Two").check()
        await form.get_by_label("Note").fill("a\nb")
        await form.get_by_label("Names").fill("Ada\nBob")
        await form.locator("#plugin-token").fill("sesame-street")
        await kept(page)
        wanted = {"city": "Rome", "timeout": 5, "loud": True, "size": "l", "depth": 2, "note": "a\nb", "names": ["Ada", "Bob"]}
        assert {key: stored(site)[key] for key in wanted} == wanted and "token" not in stored(site)
        assert (await told(site))["token"] == "teerts-emases"
        await expect(form.locator("#plugin-token")).to_have_attribute("placeholder", "given; type to change it")
        await form.get_by_label("Timeout").fill("")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(form.locator(".wrong")).to_have_text("“Timeout” must be a number.")
        await page.get_by_role("button", name="Forget Token").click()
        await expect(page.get_by_role("button", name="Forget Token")).to_have_count(0)
        assert (await told(site))["token"] == "" and stored(site)["timeout"] == 5


@pytest.mark.promise("S416")
async def test_what_its_author_wants_confirmed_is_asked_before_it_is_kept(site, browser):
    async with page_at(site, browser, "plugins/kinds") as page:
        before = stored(site)
        mode = page.get_by_label("Mode")
        await mode.select_option("Wild")
        await page.get_by_role("button", name="Save", exact=True).click()
        dialog = page.get_by_role("alertdialog", name="Really wild?")
        await expect(dialog).to_contain_text("It breaks things.")
        await picture(page, "plugin-confirm")
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(dialog).to_have_count(0)
        assert stored(site) == before
        await page.get_by_role("button", name="Save", exact=True).click()
        await dialog.get_by_role("button", name="Be wild").click()
        await expect(page.locator(".plugin-form .saved")).to_be_visible()
        assert stored(site)["mode"] == "wild"
        await mode.select_option("Safe")
        await kept(page)
        assert stored(site)["mode"] == "safe"


@pytest.mark.promise("S417", "S418")
async def test_lists_and_buttons_reach_the_plugins_own_addresses_and_no_other(site, browser):
    async with page_at(site, browser, "plugins/kinds") as page:
        boxes = page.get_by_role("group", name="Boxes")
        await expect(boxes.locator("label")).to_have_text(["Alpha", "Beta", "Gamma"])
        await boxes.get_by_label("Alpha").check()
        await boxes.get_by_label("Gamma").check()
        await kept(page)
        assert stored(site)["boxes"] == ["a", "c"] and (await told(site))["boxes"] == ["a", "c"]
        button = page.locator(".is-button", has_text="Account")
        await expect(button.get_by_role("status")).to_have_text("pressed 0")
        await button.get_by_role("button", name="Connect").click()
        await expect(button.get_by_role("status")).to_have_text("pressed 1")
        await expect(page.get_by_role("button", name="Evil")).to_be_disabled()


@pytest.mark.promise("S321")
async def test_the_settings_of_a_loose_module_stand_there_with_their_help(site, browser):
    async with page_at(site, browser, "plugins/limits") as page:
        await expect(page.locator("#plugin-X_LIMIT-help")).to_have_text("How many at most.")
        await page.get_by_label("X limit").fill("7")
        await kept(page)
        assert site.host._tooling.installation.config()["X_LIMIT"] == 7


@pytest.mark.promise("S535")
async def test_a_plugin_whose_name_for_a_tool_is_taken_says_so_and_is_given_another(site, browser):
    async with page_at(site, browser, "plugins/other") as page:
        await expect(page.locator(".one .wrong")).to_contain_text("mutually exclusive — enable one, not both")
        await page.get_by_label("shared is called").fill("shared_too")
        await page.get_by_role("button", name="Rename").click()
        await expect(page.locator(".one .wrong")).to_have_count(0)
        assert {"shared", "shared_too"} <= set(site.host.registry.snapshot.tools)


MADE = """
ENABLED = True
EMOJI = '➕'
AVAILABLE_FUNCTIONS = ['add_up']
SETTINGS = {'STEP': 2}
SETTINGS_HELP = {'STEP': 'How much is added.'}
TOOLS = [{'type': 'function', 'is_local': True, 'function': {
    'name': 'add_up', 'description': 'Adds up.', 'parameters': {'type': 'object', 'properties': {}}}}]


def execute(function_name, arguments, config, plugin_settings=None):
    return str(40 + plugin_settings['STEP']), True
"""


@pytest.mark.promise("S445")
async def test_the_settings_of_code_that_an_assistant_wrote_become_a_form(site, browser):
    session = site.host.session("console", chat=site.host.store.chats.create("", "console").id, attended=True)
    async with hearing(site.host.hub) as heard:
        saving = asyncio.create_task(session.call(session.new_call("tool_save", {"name": "adder", "code": MADE})))
        asked = await until(heard, Kind.CARD_OPENED)
        site.host.cards.answer(asked.data["card"]["id"], "approve")
        assert (await saving).ok
    said = json.loads((site.host.home / "sapphire/plugins/adder/plugin.json").read_text())
    assert (said["icon"], said["author"]) == ("➕", "ai-toolmaker")
    [row] = said["capabilities"]["settings"]
    assert (row["key"], row["type"], row["default"], row["help"]) == ("STEP", "number", 2, "How much is added.")
    async with page_at(site, browser, "plugins/adder") as page:
        await expect(page.locator("#plugin-STEP-help")).to_have_text("How much is added.")
        await page.get_by_label("Step", exact=True).fill("7")
        await kept(page)
    assert (await session.call(session.new_call("add_up", {}))).text == "47"


@pytest.mark.promise("S413")
async def test_a_plugin_is_read_anew_and_taken_off_from_its_page(site, browser):
    async with page_at(site, browser, "plugins/t5") as page:
        await page.get_by_role("button", name="Reload").click()
        await expect(page.locator(".one")).to_contain_text("It was reloaded.")
        await page.get_by_role("button", name="Uninstall").click()
        await page.get_by_role("button", name="Yes, remove its folder and settings").click()
        await expect(page.locator(".plugin-row", has_text="t5")).to_have_count(0)
        await expect(page.locator(".toast", has_text="was taken off.")).to_be_visible()
        await expect(page.locator(".one")).to_have_count(0)
        assert not (site.host.home / "sapphire/plugins/t5").exists()
