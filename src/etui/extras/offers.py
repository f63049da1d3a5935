"""The plugins with settings that come with Etui, in the order in which they are listed.

Above: the host lists and writes them, each one's factory reads its own. Below: `rows`. It refuses to know: what they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from etui.extras.rows import Offer, Row, Secret

HOME_ASSISTANT = Offer(
    name="home_assistant",
    title="Home Assistant",
    summary="Lights, scenes and states of your home, through its Home Assistant",
    rows=(
        Row(
            name="address",
            kind="address",
            default="http://homeassistant.local:8123",
            help="Where Home Assistant is, as you open it in a browser.",
        ),
        Row(
            name="certificate",
            kind="path",
            default="",
            help="A PEM file in this folder with the authority of its https address; blank for one that every browser knows.",
        ),
        Row(name="timeout_s", kind="number", default=10.0, positive=True, help="Seconds that it may take to answer."),
        Row(
            name="names",
            kind="table",
            default={},
            help='What you call a thing, where that differs from its name there, such as: "reading lamp" = "light.hue_7"',
        ),
    ),
    secrets=(
        Secret(
            name="HOME_ASSISTANT_TOKEN",
            help="A long-lived access token, which Home Assistant makes on the page of your profile, under Security.",
        ),
    ),
)
SEARCH_WEB = Offer(
    name="search_web",
    title="Web search",
    summary="Questions answered from the web, through a SearXNG of yours or Brave's search",
    rows=(
        Row(
            name="provider",
            kind="choice",
            default="auto",
            choices=("auto", "searxng", "brave"),
            help="Who is asked: auto takes SearXNG where `searxng` names one, else Brave; searxng; brave.",
        ),
        Row(
            name="searxng",
            kind="address",
            default="",
            help="Address of a SearXNG; its settings.yml must list json under `search: formats:`.",
        ),
        Row(name="results", kind="number", default=5, positive=True, help="How many results are given, at most 20."),
        Row(
            name="language",
            kind="word",
            default="",
            help="Language of the results as a code, such as en or de-AT; blank leaves it to the provider.",
        ),
        Row(name="timeout_s", kind="number", default=10.0, positive=True, help="Seconds that the provider may take to answer."),
        Row(
            name="brave",
            kind="address",
            default="https://api.search.brave.com",
            help="Address of Brave's search; another one only where you reach it through a proxy.",
        ),
    ),
    secrets=(Secret(name="BRAVE_SEARCH_KEY", help="A subscription token of Brave's search API; a SearXNG needs none."),),
)
OFFERS: Mapping[str, Offer] = {offer.name: offer for offer in (HOME_ASSISTANT, SEARCH_WEB)}
"""By name."""
SECRETS: Mapping[str, Offer] = {secret.name: offer for offer in OFFERS.values() for secret in offer.secrets}
"""By the name of a secret, the plugin that wants it."""
