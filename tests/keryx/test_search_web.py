"""Etui's plugin for searching the web, against real servers that answer as SearXNG and Brave document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.keryx.services import BRAVE, SEARXNG, Answer, Asked, service

from etui.contracts.keryx.custom import CustomTool, ToolUnavailable
from etui.extras.results import INSTRUCTIONS, SNIPPET
from etui.extras.search_web import LONGEST, search_web_tool

KEY = "BSA-subscription"


@pytest.fixture
def made(tmp_path, monkeypatch) -> Callable[..., CustomTool]:
    """Makes the tool from lines of TOML."""
    monkeypatch.delenv("BRAVE_SEARCH_KEY", raising=False)

    def make(*lines: str) -> CustomTool:
        path = tmp_path / "search_web.toml"
        path.write_text("\n".join(lines))
        return search_web_tool(path)

    return make


def found(tool: CustomTool, query: object = "opening hours city library") -> dict[str, Any]:
    answer: dict[str, Any] = asyncio.run(tool.handler(None, {"query": query}))
    return answer


def brave(asked: Asked) -> Answer:
    """Answers as Brave does."""
    if asked.headers.get("x-subscription-token") != KEY:
        error = {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The provided subscription token is invalid.", "status": 422}
        return 422, {"type": "ErrorResponse", "error": error, "time": 1764493200}
    return 200, BRAVE


def test_a_searxng_is_asked_for_json_and_its_results_are_plain_text(made):
    with service(lambda asked: (200, SEARXNG)) as server:
        answer = found(made(f'searxng = "{server.url}/"', 'language = "de-AT"'))
    assert answer == {
        "status": "ok",
        "results": [
            {
                "title": "Opening hours & holidays",
                "snippet": "Open 10 to 19, Saturdays 10 to 14.",
                "site": "library.example",
                "url": "https://www.library.example/hours",
            },
            {"title": "City", "snippet": "The city.", "site": "city.example", "url": "https://city.example/"},
        ],
        "spoken": "Until seven in the evening.",
        "instructions": INSTRUCTIONS,
        "answer": "Until seven in the evening.",
    }
    (asked,) = server.asked
    assert asked.path == "/search"
    assert asked.query == {"q": "opening hours city library", "format": "json", "language": "de-AT"}


def test_answers_of_an_older_searxng_are_texts(made):
    with service(lambda asked: (200, {"results": [], "answers": ["Noon."]})) as server:
        assert found(made(f'searxng = "{server.url}"'))["answer"] == "Noon."


def test_a_searxng_that_may_not_give_json_says_how_to_mend_it(made):
    with service(lambda asked: (403, "Forbidden")) as server:
        answer = found(made(f'searxng = "{server.url}"'))
    assert answer["status"] == "refused" and "settings.yml must list json" in answer["message"]


def test_brave_is_asked_with_the_key_in_its_header(made, monkeypatch):
    monkeypatch.setenv("BRAVE_SEARCH_KEY", KEY)
    with service(brave) as server:
        answer = found(made(f'brave = "{server.url}"', "results = 3", 'language = "en"'))
    assert answer["results"] == [
        {
            "title": "Opening hours",
            "snippet": "Open 10 to 19 'daily'.",
            "site": "library.example",
            "url": "https://www.library.example/hours",
        }
    ]
    (asked,) = server.asked
    assert asked.path == "/res/v1/web/search"
    assert asked.query == {"q": "opening hours city library", "count": "3", "search_lang": "en"}
    assert answer["spoken"] == "library.example: Open 10 to 19 'daily'." and KEY not in str(answer)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ((422, {"type": "ErrorResponse"}), "auth"),
        ((401, {}), "auth"),
        ((429, {}), "rate_limited"),
        ((503, ""), "unavailable"),
        ((200, "no"), "unavailable"),
        ((200, [1]), "unavailable"),
    ],
)
def test_a_provider_that_gives_no_answer_is_a_status_and_a_sentence_without_the_key(made, monkeypatch, answer, status):
    monkeypatch.setenv("BRAVE_SEARCH_KEY", KEY)
    with service(lambda asked: answer) as server:
        told = found(made(f'brave = "{server.url}"'))
    assert told["status"] == status and told["message"].endswith(".") and KEY not in str(told)


def test_both_providers_can_be_there_and_the_settings_choose(made, monkeypatch):
    monkeypatch.setenv("BRAVE_SEARCH_KEY", KEY)
    with service(brave) as key, service(lambda asked: (200, SEARXNG)) as own:
        addresses = (f'brave = "{key.url}"', f'searxng = "{own.url}"')
        found(made(*addresses))
        found(made(*addresses, 'provider = "Brave"'))
        found(made(*addresses, 'provider = "searxng"'))
    assert (len(own.asked), len(key.asked)) == (2, 1)


def test_no_more_results_than_wanted_are_given_and_long_text_is_cut(made):
    rows = [{"url": f"https://{n}.example", "title": "t", "content": "word " * 500} for n in range(50)]
    with service(lambda asked: (200, {"results": rows})) as server:
        assert len(found(made(f'searxng = "{server.url}"', "results = 500"))["results"]) == 20
        (first, _) = found(made(f'searxng = "{server.url}"', "results = 2.5"))["results"]
    assert len(first["snippet"]) <= SNIPPET and first["snippet"].endswith("…")


def test_nothing_found_is_said(made):
    with service(lambda asked: (200, {"results": [None, 3, {"url": "https://[", "title": 1}], "answers": None})) as server:
        answer = found(made(f'searxng = "{server.url}"'))
    assert answer == {"status": "ok", "results": [], "spoken": "Nothing was found for 'opening hours city library'."}


def test_a_query_is_needed_and_a_long_one_is_cut(made):
    with service(lambda asked: (200, SEARXNG)) as server:
        tool = made(f'searxng = "{server.url}"')
        for query in ("", "  ", None, 7, ["a"]):
            assert found(tool, query) == {"error": "query is required: say what to look up"}
        assert server.asked == []
        found(tool, "long " * 500)
    assert len(server.asked[0].query["q"]) <= LONGEST


def test_without_anybody_to_ask_the_file_refuses_itself_and_says_both_ways(made):
    with pytest.raises(ToolUnavailable, match=r"--set searxng=ADDRESS.*--secret BRAVE_SEARCH_KEY"):
        made()
    with pytest.raises(ToolUnavailable, match="searxng is blank"):
        made('provider = "searxng"')
    with pytest.raises(ToolUnavailable, match=r"^search_web: provider must be one of auto, searxng, brave$"):
        made('provider = "altavista"')


def test_it_answers_anyone(made):
    tool = made('searxng = "http://127.0.0.1:1"')
    assert (tool.name, tool.needs_pin, tool.timeout_s) == ("search_web", False, 15)
