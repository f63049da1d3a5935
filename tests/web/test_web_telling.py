"""What the host tells of a turn, seen and heard in the console: faces, lines, marks, plans, jobs, and the cards of tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.web.chromium import picture
from tests.web.pages import page_at, say
from tests.web.sites import Site

from etui.cards import Answer, Card
from etui.events import Kind

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
LISTENING = """
    window.spoken = [];
    window.faces = [];
    speechSynthesis.speak = (line) => window.spoken.push(line.text);
    new MutationObserver(() => {
        const face = document.querySelector('.chat-head .face')?.dataset.face;
        if (face && face !== window.faces.at(-1)) window.faces.push(face);
    }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-face'] });
"""
"""Keeps what the browser's voice is asked to say, and every face that was shown."""


class Stage:
    """A turn that a test tells, event by event, in a chat that a page looks at."""

    def __init__(self, site: Site, chat: str, turn: str = "turn_told") -> None:
        self._hub = site.host.hub
        self.chat = chat
        self._turn = turn

    def tell(self, kind: Kind, call: str = "", **data: object) -> None:
        self._hub.tell(kind, data, chat=self.chat, turn=self._turn, call=call)

    def aside(self, kind: Kind, **data: object) -> None:
        """What belongs to no turn."""
        self._hub.tell(kind, data, chat=self.chat)


@asynccontextmanager
async def stage(site: Site, browser: Browser, **how: Any) -> AsyncIterator[tuple[Page, Stage]]:
    """A page on a chat of its own, in which a test tells what happens."""
    chat = site.host.store.chats.create(title="Told")
    async with page_at(site, browser, f"chat/{chat.id}", **how) as page:
        await expect(page.locator(".chat-head h1")).to_have_text("Told")
        await page.evaluate(LISTENING)
        yield page, Stage(site, chat.id)


async def test_the_face_is_the_one_that_is_told_until_the_next(site: Site, browser: Browser) -> None:
    async with stage(site, browser) as (page, told):
        face = page.locator(".chat-head .face")
        told.tell(Kind.TURN_STARTED, text="Do it.")
        begun = {"tool": "ping", "plugin": "p", "arguments": {}, "risk": "write", "face": "affectionate", "runs": True}
        told.tell(Kind.CALL_STARTED, "c1", **begun)
        await expect(page.locator(".working")).to_have_text("Working")
        await expect(page.locator(".step.is-running .risk")).to_have_text("write")
        await expect(face).to_have_attribute("data-face", "affectionate")
        assert (await page.evaluate("window.faces"))[-2:] in (["determined", "affectionate"], ["thinking", "affectionate"])
        ended = {"tool": "ping", "plugin": "p", "status": "failed", "mark": "red", "line": "! it broke", "text": "it broke"}
        told.tell(Kind.CALL_ENDED, "c1", **ended, why="the disk is full", seconds=0.5)
        step = page.locator(".step.is-failed")
        await expect(step.locator(".mark")).to_have_class("mark bad")
        await expect(step.locator(".step-why")).to_have_text("the disk is full")
        await expect(face).to_have_attribute("data-face", "sad")
        told.tell(Kind.TEXT, text="That did not work.")
        await expect(page.locator(".now .bubble")).to_contain_text("That did not work.")
        await page.reload()
        await expect(page.locator(".working")).to_have_text("Working")
        await expect(face).to_have_attribute("data-face", "sad")
        told.tell(Kind.FACE, face="embarrassed", why="reply")
        told.tell(Kind.TURN_ENDED, text="That did not work.", why="done")
        await expect(page.locator(".now .caret")).to_have_count(0)
        await expect(page.locator(".working")).to_have_text("")
        await expect(face).to_have_attribute("data-face", "embarrassed")


async def test_what_happens_in_another_chat_moves_no_face_here(site: Site, browser: Browser) -> None:
    other = Stage(site, site.host.store.chats.create(title="Elsewhere").id, "turn_other")
    async with stage(site, browser) as (page, told):
        other.tell(Kind.TURN_STARTED, text="x")
        other.tell(Kind.FACE, face="angry", why="focus")
        other.tell(Kind.TURN_ENDED, text="y", why="failed")
        told.tell(Kind.TURN_STARTED, text="z")
        told.tell(Kind.FACE, face="excited", why="reply")
        await expect(page.locator(".chat-head .face")).to_have_attribute("data-face", "excited")
        assert set(await page.evaluate("window.faces")) <= {"neutral", "thinking", "excited"}


async def test_lines_are_seen_kept_with_their_turn_and_spoken_when_speak_is_on(site: Site, browser: Browser) -> None:
    async with stage(site, browser) as (page, told):
        await page.get_by_role("button", name="Speak the answers").click()
        await expect(page.get_by_role("button", name="Speak the answers")).to_have_attribute("aria-pressed", "true")
        told.tell(Kind.TURN_STARTED, text="Look for it.")
        for why, text in (("announce", "Let me look."), ("heartbeat", "Still looking."), ("complete", "There it is.")):
            told.tell(Kind.SAID, "c1", text=text, why=why)
        lines = page.locator(".now .said li")
        await expect(lines).to_have_text(["Let me look.", "Still looking.", "There it is."])
        await expect(page.locator("#spoken")).to_have_text("There it is.")
        told.tell(Kind.HUM)
        await expect(page.locator(".chat-head .face")).to_have_class("face small is-thinking humming")
        assert await page.evaluate("window.spoken") == ["Let me look.", "Still looking.", "There it is."]
        await page.reload()
        await expect(lines).to_have_text(["Let me look.", "Still looking.", "There it is."])
        await page.evaluate(LISTENING)
        await page.get_by_role("button", name="Speak the answers").click()
        await expect(page.get_by_role("button", name="Speak the answers")).to_have_attribute("aria-pressed", "false")
        told.tell(Kind.SAID, "c1", text="Not aloud.", why="announce")
        await expect(lines.last).to_have_text("Not aloud.")
        assert await page.evaluate("window.spoken") == []
        told.tell(Kind.TURN_ENDED, text="Done.", why="done")


async def test_a_plan_is_shown_step_by_step_and_goes(site: Site, browser: Browser) -> None:
    def plan(*statuses: str) -> dict[str, object]:
        tasks = [{"order": number, "text": f"Step {number}", "status": one} for number, one in enumerate(statuses, 1)]
        return {"title": "Move house", "status": "active", "tasks": tasks}

    async with stage(site, browser) as (page, told):
        told.tell(Kind.TURN_STARTED, text="Plan it.")
        told.tell(Kind.TASKS, list=plan("done", "in_progress", "pending"))
        shown = page.get_by_role("region", name="Plan")
        await expect(shown.get_by_role("heading")).to_have_text("Move house 1 of 3")
        await expect(shown.locator("li").nth(1)).to_have_class("task is-under-way")
        await page.reload()
        await expect(shown.locator("li").nth(1)).to_contain_text("Step 2, under way")
        told.tell(Kind.TASKS, list=None)
        await expect(shown).to_have_count(0)


async def test_a_link_is_read_before_it_is_opened_and_a_secret_is_typed_unseen(site: Site, browser: Browser) -> None:
    answers: list[Answer] = []
    async with stage(site, browser) as (page, told):
        cards = site.host.cards
        cards.show(Card(id="", kind="link", question="The page", url="https://example.org/a", chat=told.chat), answers.append)
        card = page.get_by_role("group", name="The page")
        await expect(card.get_by_role("link", name="Open it")).to_have_attribute("href", "https://example.org/a")
        await card.get_by_role("button", name="Put it away").click()
        await expect(card).to_have_count(0)
        cards.show(Card(id="", kind="link", question="Bad", url="javascript:alert(1)", chat=told.chat), answers.append)
        bad = page.get_by_role("group", name="Bad")
        await expect(bad).to_contain_text("no address of the web")
        await expect(bad.get_by_role("link")).to_have_count(0)
        await bad.get_by_role("button", name="Put it away").click()
        asked = asyncio.ensure_future(
            cards.ask(Card(id="", kind="question", question="The key?", secret=True, detail="It stays here.", chat=told.chat))
        )
        secret = page.get_by_role("group", name="The key?")
        await expect(secret.get_by_label("Your answer")).to_have_attribute("type", "password")
        await expect(secret).to_contain_text("It stays here.")
        await secret.get_by_label("Your answer").fill(" s3cret ")
        await page.keyboard.press("Enter")
        assert await asked == Answer("answered", " s3cret ")
        assert [one.state for one in answers] == ["dismissed", "dismissed"]


async def test_a_card_offers_only_the_yeses_that_can_be_remembered(site: Site, browser: Browser) -> None:
    async with stage(site, browser) as (page, told):
        card = Card(
            id="",
            kind="approval",
            question="Run a command?",
            action="git status && rm -rf x",
            always=("always_family",),
            family="git",
            notice="This deletes files.",
            risk="exec",
            chat=told.chat,
        )
        asked = asyncio.ensure_future(site.host.cards.ask(card))
        shown = page.get_by_role("group", name="Run a command?")
        await expect(shown.locator(".card-line")).to_have_text("git status && rm -rf x")
        await expect(shown.locator(".card-notice")).to_have_text("This deletes files.")
        assert await shown.get_by_role("button").all_inner_texts() == ["Approve", "Always for git", "Decline"]
        await picture(page, "console-command-card")
        await shown.get_by_role("button", name="Always for git").click()
        assert await asked == Answer("answered", "always_family")


async def test_a_turn_with_lines_and_a_plan_fits_a_phone(site: Site, browser: Browser) -> None:
    for scheme in ("light", "dark"):
        how = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme, "has_touch": True}
        async with stage(site, browser, **how) as (page, told):
            told.tell(Kind.TURN_STARTED, text="Find my notes.")
            told.tell(Kind.WORKING, on=True)
            told.tell(Kind.SAID, "c1", text="Let me have a look through everything that you wrote down so far.", why="announce")
            told.tell(
                Kind.CALL_STARTED, "c1", tool="search_" + "files_" * 6, plugin="p", arguments={"q": "w" * 90}, risk="network"
            )
            told.tell(Kind.CALL_PROGRESS, "c1", fraction=0.4, text="w" * 80)
            tasks = [{"order": 1, "text": "w" * 90, "status": "done"}, {"order": 2, "text": "Read it", "status": "pending"}]
            told.tell(Kind.TASKS, list={"title": "Search", "tasks": tasks})
            await expect(page.locator(".step .progress")).to_be_visible()
            await expect(page.locator(".plan")).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            await picture(page, f"console-phone-{scheme}-telling")
            told.tell(Kind.TURN_ENDED, text="Found.", why="done")


async def test_without_a_told_face_the_console_chooses_its_own(site: Site, browser: Browser) -> None:
    async with page_at(site, browser) as page:
        await say(page, 'call greet {"name": "Ada"}')
        await expect(page.locator(".chat-head .face")).to_have_attribute("data-face", "happy")
