"""Etui's plugin for Home Assistant, against a real server that answers as Home Assistant documents."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.keryx.services import STATES, TOKEN, Service, entity, home_assistant, service

from etui.contracts.keryx.custom import CustomTool, ToolUnavailable
from etui.extras.home_assistant import home_assistant_tool
from etui.extras.house import Entity

Say = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def server() -> Iterator[Service]:
    with service(home_assistant) as running:
        yield running


@pytest.fixture
def made(tmp_path, monkeypatch) -> Callable[..., CustomTool]:
    """Makes the tool from lines of TOML."""
    monkeypatch.setenv("HOME_ASSISTANT_TOKEN", TOKEN)

    def make(*lines: str) -> CustomTool:
        path = tmp_path / "home_assistant.toml"
        path.write_text("\n".join(lines))
        return home_assistant_tool(path)

    return make


@pytest.fixture
def say(made, server) -> Say:
    """Calls the tool; the owner calls one light `reading lamp`."""
    tool = made(f'address = "{server.url}"', "[names]", '"Reading Lamp" = "light.hue_7"', 'gone = "light.sold"')
    server.asked.clear()
    return lambda **args: asyncio.run(tool.handler(None, args))


def posts(server: Service) -> list[tuple[str, Any]]:
    return [(asked.path, asked.body) for asked in server.asked if asked.method == "POST"]


def test_a_state_is_told_with_its_unit_or_its_brightness(say):
    assert say(action="state", name="outside temperature") == {
        "status": "ok",
        "name": "Outside temperature",
        "entity_id": "sensor.outside",
        "state": "7.4",
        "unit": "°C",
        "spoken": "Outside temperature is 7.4 °C.",
    }
    kitchen = say(action="state", name="the kitchen")
    assert (kitchen["brightness"], kitchen["spoken"]) == (60, "Kitchen is on at 60 percent.")
    assert say(action="state", name="sun.sun")["spoken"] == "sun is above_horizon."


def test_each_request_carries_the_token_and_nothing_but_json(say, server):
    say(action="list")
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert server.asked[0].headers["accept"] == "application/json"


def test_a_list_names_lights_scenes_and_what_else_is_switched(say):
    found = say(action="list")
    assert found["lights"] == ["Cellar", "Hue color lamp 7", "Kitchen", "Kitchen table"]
    assert found["scenes"] == ["Bright", "Movie night"]
    assert found["others"] == ["Bedroom", "Coffee maker"]
    assert found["spoken"] == "There are 4 lights and 2 scenes."


@pytest.mark.parametrize(
    ("args", "path", "body", "spoken"),
    [
        (
            {"action": "on", "name": "kitchen table"},
            "/api/services/light/turn_on",
            {"entity_id": "light.kitchen_table"},
            "Kitchen table is on.",
        ),
        (
            {"action": "off", "name": "Kitchen"},
            "/api/services/light/turn_off",
            {"entity_id": "light.kitchen"},
            "Kitchen is off.",
        ),
        (
            {"action": "toggle", "name": "coffee maker"},
            "/api/services/switch/toggle",
            {"entity_id": "switch.coffee_maker"},
            "Coffee maker is on.",
        ),
        (
            {"action": "on", "name": "reading lamp", "brightness": "40%", "colour": "Warm White"},
            "/api/services/light/turn_on",
            {"entity_id": "light.hue_7", "brightness_pct": 40, "color_name": "warmwhite"},
            "Hue color lamp 7 is on at 40 percent.",
        ),
        (
            {"action": "off", "name": "all lights", "brightness": 5},
            "/api/services/light/turn_off",
            {"entity_id": ["light.kitchen", "light.kitchen_table", "light.hue_7", "light.cellar"]},
            "All 4 lights are off.",
        ),
        (
            {"action": "scene", "name": "movie night"},
            "/api/services/scene/turn_on",
            {"entity_id": "scene.movie_night"},
            "Movie night is set.",
        ),
    ],
)
def test_what_is_wanted_is_one_call_of_the_documented_service(say, server, args, path, body, spoken):
    assert say(**args)["spoken"] == spoken
    assert posts(server) == [(path, body)]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, "action is required: one of state, list"),
        ({"action": "explode", "name": "kitchen"}, "action is required"),
        ({"action": "on"}, "name is required"),
        ({"action": "on", "name": 7}, "name is required"),
        ({"action": "on", "name": "attic"}, "There is nothing called 'attic' for that; there is Bedroom, Cellar"),
        ({"action": "on", "name": "front lock"}, "nothing called 'front lock'"),
        ({"action": "on", "name": "front door"}, "nothing called 'front door'"),
        ({"action": "state", "name": "front"}, "Several fit 'front': Front door, Front lock. Ask which one is meant."),
        ({"action": "on", "name": "gone"}, "'gone' is set to 'light.sold', which Home Assistant does not have"),
        ({"action": "on", "name": "coffee maker", "brightness": 50}, "nothing called 'coffee maker' for that"),
        ({"action": "on", "name": "kitchen", "brightness": 0}, "percent from 1 to 100"),
        ({"action": "on", "name": "kitchen", "brightness": True}, "percent from 1 to 100"),
        ({"action": "on", "name": "kitchen", "brightness": "dim"}, "percent from 1 to 100"),
        ({"action": "on", "name": "kitchen", "colour": "#ff0000"}, "English name of a colour"),
    ],
)
def test_what_is_unclear_is_said_and_nothing_is_done(say, server, args, error):
    assert error in say(**args)["error"]
    assert posts(server) == []


def test_what_does_not_answer_home_assistant_is_said(say, server):
    assert say(action="on", name="cellar") == {
        "status": "unavailable",
        "message": "Cellar does not answer Home Assistant.",
    }
    assert posts(server) == []


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ((401, "401: Unauthorized"), "auth", "does not take the token"),
        ((403, "403: Forbidden"), "auth", "forbids"),
        ((404, "404: Not Found"), "not_found", "no such thing"),
        ((429, ""), "rate_limited", "too often"),
        ((500, "oops"), "unavailable", "a fault of its own (500)"),
        ((400, {"message": "Invalid JSON specified."}), "refused", "did not take the request (400)"),
        ((200, "<html>"), "unavailable", "no JSON"),
        ((200, {"message": "API running."}), "unavailable", "makes no sense"),
        ((301, {"location": "https://elsewhere.example/"}), "unavailable", "moved to another address"),
        ((200, [{"no": "entity"}, 7, None]), "", "nothing called 'kitchen'"),
    ],
)
def test_a_service_that_gives_no_answer_is_a_status_and_a_sentence_without_the_token(made, answer, status, message):
    with service(lambda asked: answer) as broken:
        tool = made(f'address = "{broken.url}"')
        found = asyncio.run(tool.handler(None, {"action": "state", "name": "kitchen"}))
    assert found.get("status", "") == status
    assert message in found.get("message", found.get("error"))
    assert TOKEN not in str(found) and len(broken.asked) == 1


def test_a_server_that_is_not_there_or_says_nothing_is_told_apart(made):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        tool = made(f'address = "{address}"', "timeout_s = 0.05")
        assert asyncio.run(tool.handler(None, {"action": "list"}))["status"] == "unavailable"
        silent.listen()
        found = asyncio.run(tool.handler(None, {"action": "list"}))
    assert found == {"status": "timeout", "message": "Home Assistant did not answer in time."}


def test_a_certificate_of_ones_own_is_trusted_where_the_settings_name_it(made, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(tmp_path / "mine.pem"))
    with service(home_assistant, context) as secure:
        wish = {"action": "state", "name": "kitchen"}
        trusting = made(f'address = "{secure.url}"', 'certificate = "mine.pem"')
        assert asyncio.run(trusting.handler(None, wish))["status"] == "ok"
        strict = made(f'address = "{secure.url}"')
        refused = asyncio.run(strict.handler(None, wish))
        assert refused["message"] == "Home Assistant cannot be reached: its certificate is not trusted."
        missing = made(f'address = "{secure.url}"', 'certificate = "other.pem"')
        assert "certificate file" in asyncio.run(missing.handler(None, wish))["message"]


def _certificate(path: Path) -> Path:
    """A certificate for this machine, with its key, that nobody else vouches for."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "home")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_without_a_token_or_with_spoilt_settings_the_file_refuses_itself_and_says_what_to_do(made, monkeypatch):
    with pytest.raises(ToolUnavailable, match=r"^home_assistant: timeout_s must be more than 0$"):
        made("timeout_s = 0")
    with pytest.raises(ToolUnavailable, match="address is blank"):
        made('address = ""')
    monkeypatch.delenv("HOME_ASSISTANT_TOKEN")
    with pytest.raises(ToolUnavailable, match="`etui plugins install home_assistant --secret HOME_ASSISTANT_TOKEN`"):
        made()


def test_it_waits_for_the_pin_and_for_the_service(made):
    tool = made("timeout_s = 3")
    assert (tool.name, tool.needs_pin, tool.timeout_s) == ("home_assistant", True, 11)


def test_rows_that_are_odd_do_no_harm():
    assert Entity({"entity_id": "light.x", "attributes": None}).name == "x"
    assert Entity(entity("light.x", "on", brightness=True)).brightness is None
    assert Entity(STATES[0]).brightness == 60
