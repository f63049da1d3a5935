"""Toolsets, a chat's choices and accounts in the console, in real Chromium: what a click chooses is what a model is sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.sapphire.homes import manifest, save, schema, tool
from tests.web.chromium import chromium, picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import Site, site_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
ACCOUNTS = '''
def accounts(body, settings):
    """The mailboxes, as this plugin's own page lists them."""
    names = {"work": "Work", "home": "Home", 7: "Seventh"}
    return {"accounts": [{"scope": scope, "label": label} for scope, label in names.items()] + [{"label": "no value"}, None]}
'''
MAIL = tool(
    "mail_scope",
    head="EMOJI = '📬'\nTOOL_CATEGORY = 'comms'\nfrom core.chat.function_manager import scope_email\n",
    body='return f"I read {scope_email.get()}.", True',
    writes=False,
)
FILES = {
    "plugins/sample/tools/sample.py": "EMOJI = '🔧'\nTOOL_CATEGORY = 'system'\n" + tool("sample_a", "sample_b"),
    "plugins/net/tools/net.py": "TOOL_CATEGORY = 'web'\n"
    + tool("fetch", network=True)
    + f"\nTOOLS += [{schema('fold')!r}, {schema('unseen', hidden=True)!r}]\n",
    "plugins/meta/tools/meta.py": "TOOL_CATEGORY = 'meta_danger'\n" + tool("set_voice"),
    "plugins/mind/tools/one.py": "GROUP = 'Mind'\nTOOL_CATEGORY = 'memory'\n" + tool("think"),
    "plugins/mind/tools/two.py": "GROUP = 'Mind'\nTOOL_CATEGORY = 'goals'\n" + tool("plan"),
    "plugins/email/plugin.json": manifest(
        "email",
        "tools/email_tool.py",
        scopes=[
            {
                "key": "email",
                "label": "Mailbox",
                "endpoint": "/api/plugin/email/accounts",
                "data_key": "accounts",
                "value_field": "scope",
                "name_field": "label",
                "label_template": "{label} ({scope})",
                "nav_target": "mail",
            }
        ],
        routes=[{"method": "GET", "path": "accounts", "handler": "routes/accounts.py:accounts"}],
    ),
    "plugins/email/tools/email_tool.py": MAIL,
    "plugins/email/routes/accounts.py": ACCOUNTS,
    "functions/candle.py": "EMOJI = '🕯️'\nTOOL_CATEGORY = 'system'\n" + tool("sample_candle"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home = tmp_path_factory.mktemp("etui")
    save(home / "sapphire", FILES)
    async with site_at(home, tools="") as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


def group(page: Page, name: str):
    return page.get_by_role("region", name=f"Group {name}", exact=True)


@pytest.mark.promise("S008", "S027", "S031", "S037", "S271", "S323", "S278")
async def test_the_picker_groups_tools_by_category_with_icons_badges_and_no_hidden_one(site, browser):
    async with page_at(site, browser, "toolsets") as page:
        await expect(group(page, "system")).to_contain_text("🔧")
        await expect(group(page, "system").locator(".row-name")).to_have_text(["sample_a", "sample_b", "sample_candle"])
        await expect(group(page, "web").locator("li", has_text="fetch").locator(".is-network")).to_have_text("network")
        await expect(group(page, "web").locator("li", has_text="fold").locator(".is-network")).to_have_count(0)
        await expect(group(page, "meta_danger").locator("h2")).to_have_text("meta_danger")
        await expect(group(page, "meta_danger").locator(".row")).to_have_count(1)
        await expect(group(page, "Mind").locator(".row-name")).to_contain_text(["plan", "think"])
        names = await page.locator(".picker h2").all_text_contents()
        assert sorted(names, key=str.casefold) == ["comms", "meta_danger", "Mind", "system", "web"]
        await expect(page.get_by_text("unseen")).to_have_count(0)
        await picture(page, "toolsets", whole=True)


@pytest.mark.promise("S251", "S026")
async def test_a_person_saves_a_toolset_and_a_chat_with_it_offers_just_that(site, browser):
    async with page_at(site, browser, "toolsets") as page:
        await page.get_by_role("button", name="New toolset").click()
        await page.get_by_label("Name").fill("Letters")
        await page.get_by_label("Emoji").fill("✉️")
        await group(page, "system").get_by_label("sample_b").check()
        await page.get_by_role("checkbox", name="All of comms").check()
        await picture(page, "toolsets-editing")
        await page.get_by_role("button", name="Save it").click()
        await expect(page.locator(".saved-sets li")).to_contain_text("mail_scope, sample_b")
        await page.goto(f"{site.base}/#/chat")
        await say(page, "hello")
        await answered(page, "You said: hello")
        await page.get_by_role("button", name="Tools of this chat").click()
        await page.get_by_label("Toolset", exact=True).select_option("Letters")
        await expect(page.locator(".choices .hint")).to_have_text("2 toolsmail_scope, sample_b")
        await picture(page, "choices")
        await say(page, "again")
        await answered(page, "You said: again")
        sent = site.host._chosen.model.asked
        assert {tool.name for tool in sent[-1].tools} == {"mail_scope", "sample_b"}
        assert {tool.name for tool in sent[0].tools} > {"mail_scope", "sample_b"}
        await page.goto(f"{site.base}/#/toolsets")
        await page.get_by_role("button", name="Remove Letters").click()
        await (
            page.get_by_role("alertdialog", name="Remove the toolset “Letters”?")
            .get_by_role("button", name="Remove it")
            .click()
        )
        await expect(page.locator(".saved-sets li")).to_have_count(0)


@pytest.mark.promise("S406")
async def test_a_person_chooses_the_account_that_a_route_lists_and_the_tool_reads_it(site, browser):
    async with page_at(site, browser) as page:
        await say(page, "hello")
        await answered(page, "You said: hello")
        await page.get_by_role("button", name="Tools of this chat").click()
        await expect(page.get_by_label("Mailbox").locator("option")).to_have_text(
            ["default", "Work (work)", "Home (home)", "Seventh (7)", "closed", "another name…"]
        )
        await page.get_by_label("Mailbox").select_option("7")
        await say(page, "call mail_scope {}")
        await answered(page, "I read 7.")
        await page.get_by_label("Mailbox").select_option("home")
        await picture(page, "choices-scope")
        await say(page, "call mail_scope {}")
        await answered(page, "I read home.")
        await page.get_by_label("Mailbox").select_option("none")
        await expect(page.locator(".choices .hint")).not_to_contain_text("mail_scope")
        await page.get_by_label("Mailbox").select_option("another name…")
        await page.get_by_placeholder("its name").fill("attic")
        await page.get_by_role("button", name="Use it").click()
        await expect(page.get_by_label("Mailbox")).to_have_value("attic")
        await say(page, "call mail_scope {}")
        await answered(page, "I read attic.")


async def test_a_person_keeps_an_account_gives_it_to_a_plugin_and_never_sees_the_secret_again(site, browser):
    async with page_at(site, browser, "accounts") as page:
        heard: list[str] = []

        async def hear(answer) -> None:
            if "/api/accounts" in answer.url:
                heard.append(await answer.text())

        page.on("response", hear)
        await page.get_by_role("button", name="Add: Mail").click()
        form = page.get_by_role("form", name="A new account: Mail")
        await form.get_by_label("Name", exact=True).fill("work")
        await form.get_by_label("Address").fill("work@example.com")
        await form.get_by_label("Password", exact=True).fill("swordfish-4711")
        await picture(page, "accounts-form", whole=True)
        await form.get_by_role("button", name="Keep it").click()
        mail = page.get_by_role("region", name="Mail", exact=True)
        await expect(mail.locator("dd").first).to_have_text("work@example.com")
        await expect(mail).to_contain_text("No plugin may have it.")
        await mail.get_by_label("Give work to a plugin").select_option("email")
        await expect(mail.get_by_role("group", name="Who may have work")).to_contain_text("email")
        await picture(page, "accounts", whole=True)
        assert site.host.accounts.get("email", "mail", "work")["app_password"] == "swordfish-4711"
        await mail.get_by_role("button", name="Change work").click()
        await page.get_by_label("Address").fill("new@example.com")
        await page.get_by_role("button", name="Keep it").click()
        await expect(mail.locator("dd").first).to_have_text("new@example.com")
        assert site.host.accounts.get("email", "mail", "work")["app_password"] == "swordfish-4711"
        await mail.get_by_label("Take it back from email").click()
        await expect(mail).to_contain_text("No plugin may have it.")
        await mail.get_by_role("button", name="Forget work").click()
        await page.get_by_role("alertdialog", name="Forget Mail “work”?").get_by_role("button", name="Forget it").click()
        await expect(mail.locator(".account")).to_have_count(0)
        assert heard and not any("swordfish" in text for text in heard)


RATIO = """row => {
  const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => rgb.map((one) => linear(one / 255))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const seen = (text) => text.match(/[\\d.]+/g).map(Number);
  return [...row.querySelectorAll(".row-name, .row-words")].map((one) => {
    let ground = one, veil = 1;
    for (let at = one; at; at = at.parentElement) veil *= Number(getComputedStyle(at).opacity);
    while ((seen(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement;
    const back = seen(getComputedStyle(ground).backgroundColor).slice(0, 3);
    const ink = seen(getComputedStyle(one).color).slice(0, 3).map((part, at) => part * veil + back[at] * (1 - veil));
    const [low, high] = [luminance(ink), luminance(back)].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  });
}"""


@pytest.mark.promise("S008")
async def test_a_loose_files_emoji_stands_on_the_tools_page(site, browser):
    async with page_at(site, browser, "tools") as page:
        await expect(page.get_by_role("region", name="Plugin candle").locator("header")).to_contain_text("🕯️")
        await expect(page.get_by_role("region", name="Plugin sample").locator("header")).to_contain_text("🔧")
        await picture(page, "tools-icons", whole=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_rows_that_are_off_can_be_read(site, browser, scheme):
    site.host.tools.switch("plugin:net", False)
    site.host.tools.switch("set_voice", False)
    async with page_at(site, browser, color_scheme=scheme) as page:
        for where in ("tools", "plugins", "toolsets"):
            await page.goto(f"{site.base}/#/{where}")
            await expect(page.locator(".row.off").first).to_be_visible()
            ratios = [await row.evaluate(RATIO) for row in await page.locator(".row.off").all()]
            assert all(ratio >= 4.5 for row in ratios for ratio in row) and ratios[0]
            await picture(page, f"off-{scheme}-{where}")
    site.host.tools.switch("plugin:net", True)
    site.host.tools.switch("set_voice", True)


async def test_the_api_says_what_is_wrong_in_a_sentence(site):
    async with site.owner() as client:
        answers = [
            await client.put("/api/toolsets/all", json={"functions": []}),
            await client.put("/api/toolsets/x", json={"functions": "a"}),
            await client.delete("/api/toolsets/nobody"),
            await client.put("/api/chats/nobody/choices", json={"key": "toolset", "value": "all"}),
            await client.put("/api/accounts/nothing/x", json={"values": {}}),
            await client.put("/api/accounts/mail/x", json={}),
            await client.delete("/api/accounts/mail/nobody"),
            await client.post("/api/accounts/mail/nobody/grant", json={"plugin": "email", "on": True}),
            await client.post("/api/accounts/mail/*/grant", json={"plugin": "nobody", "on": True}),
        ]
    assert [answer.status_code for answer in answers] == [400, 400, 404, 404, 400, 400, 404, 400, 404]
    assert all(json.loads(answer.text)["error"].endswith(".") for answer in answers)


async def test_the_pages_fit_a_phone(site, browser):
    async with page_at(site, browser, "toolsets", viewport={"width": 360, "height": 760}) as page:
        await expect(page.locator(".picker").first).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360
        await picture(page, "toolsets-phone")
        await page.goto(f"{site.base}/#/accounts")
        await expect(page.locator(".account-kind").first).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360
