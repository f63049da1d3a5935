"""`core.net` in real workers: which lane a host is on, that nothing leaves its lane, and the floor for plain `requests`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import pytest_asyncio
from tests.kotoba.homes import write
from tests.sapphire.homes import Room, manifest, sapphire, schema, tool
from tests.sapphire.proxies import WIDE, L, P, net

from etui.extras.asking import Service
from etui.front.outside import Outside

pytestmark = pytest.mark.asyncio(loop_scope="module")
BODY = """
try:
    found = eval(arguments["code"], globals())
    return json.dumps(found), True
except Exception as error:
    return f"{type(error).__name__}: {error}", False
"""
HEAD = f"""
import json, os, socket, threading
import requests
from core import net
from core import socks_proxy

LOOKED_UP = []
_real = socket.getaddrinfo


def _counted(host, port, *args, **kwargs):
    LOOKED_UP.append(str(host))
    return _real("127.0.0.1" if host == {WIDE!r} else host, port, *args, **kwargs)


socket.getaddrinfo = _counted


def told(answer):
    return {{"status": answer.status_code, **answer.json()}}


def in_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def failing(work):
    try:
        work()
    except Exception as error:
        return [type(error).__name__, isinstance(error, requests.exceptions.RequestException), str(error)]
"""
"""What every tool of these tests has: names that the test's resolver leads to this machine, counted."""
PROBE = tool("probe", head=HEAD, body=BODY, properties={"code": {"type": "string"}})
OTHER = PROBE.replace("'probe'", "'other'")


@pytest.fixture
def both() -> Iterator[tuple[L, P]]:
    with net() as found:
        yield found


def on(proxy: P, **more: object) -> dict[str, Any]:
    """The owner's settings with the proxy."""
    return {"socks": True, "socks_port": proxy.port, **more}


async def lanes(room: Room, *hosts: object, tool: str = "probe") -> list[str]:
    return await room.value(tool, {"code": f"[net.classify(host) for host in {list(hosts)!r}]"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A host without a proxy, which tests share."""
    async with sapphire(tmp_path_factory.mktemp("plain"), {"plugins/p/tools/a.py": PROBE}, limit=None) as room:
        yield room


@pytest.mark.promise("S151", "S152", "S153", "S154", "S155", "S160", "S285", "S462", "S463", "S464")
async def test_a_host_is_judged_by_its_spelling_and_no_name_is_looked_up(plain):
    near = ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"]
    near += [
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.254",
        "192.168.1.1",
        "fd00::1",
        "[fd00::1]",
        "169.254.1.1",
        "fe80::1",
        "[fe80::1]",
    ]
    near += [
        "printer.local",
        "nas.lan",
        "x.home.arpa",
        "PRINTER.LOCAL",
        "Nas.Lan",
        "X.HOME.ARPA",
        "nas",
        "nas。local",
        "nas.lan.",
    ]
    near += ["2130706433", "0x7f000001", "192.168.001.001", "fe80::1%eth0", "::ffff:192.168.1.1"]
    assert await lanes(plain, *near) == ["lan"] * len(near)
    far = ["172.32.0.1", "local.example.net", "evil-lan.example", "example.net", "a.b.example", "8.8.8.8"]
    far += ["2606:4700::1", "[2606:4700::1]", "16843009", "0x01010101", "99999999999", "010.1.2.3", "example。com", "", None, 7]
    assert await lanes(plain, *far) == ["wan"] * len(far)
    # Telling one's own address and judging names asks nobody.
    own = await plain.value("probe", {"code": "[net.local_ip(), LOOKED_UP]"})
    assert own[0].count(".") == 3
    assert own[1] == []


@pytest.mark.promise("S146", "S147", "S284")
async def test_it_is_shaped_like_requests(plain, both):
    near, _ = both
    code = f"""[told(net.get({near.url!r} + "/a", params={{"q": "1"}}, headers={{"X-A": "b"}}, timeout=10)),
        told(net.post({near.url!r}, json={{"k": 1}})), told(net.put({near.url!r}, data="d")), told(net.delete({near.url!r})),
        told(net.request("PATCH", {near.url!r}))]"""
    answers = await plain.value("probe", {"code": code})
    assert [one["method"] for one in answers] == ["GET", "POST", "PUT", "DELETE", "PATCH"]
    assert (answers[0]["path"], answers[0]["headers"]["X-A"]) == ("/a?q=1", "b")
    assert (answers[1]["body"].replace(" ", ""), answers[2]["body"]) == ('{"k":1}', "d")
    more = f"""(lambda one: [one.text == one.content.decode(), one.headers["Content-Length"] == str(len(one.content)),
        one.raise_for_status() is None])(net.get({near.url!r}))"""
    assert await plain.value("probe", {"code": more}) == [True, True, True]


@pytest.mark.promise("S148", "S162", "S466")
async def test_without_a_proxy_the_wide_lane_is_direct_sessions_are_pooled_and_cookies_are_kept_by_the_browser_alone(
    plain, both
):
    near, proxy = both
    wide = f"http://{WIDE}:{near.port}"
    assert (await plain.value("probe", {"code": f"told(net.get({wide!r}))"}))["status"] == 200
    assert near.through == [False]
    assert proxy.names == []
    near.forget()
    assert await plain.value(
        "probe", {"code": f"(lambda s: [s.get({near.url!r}).status_code for _ in range(3)])(net.session_for({near.url!r}))"}
    ) == [200, 200, 200]
    assert near.connections == 1
    twice = """(net.get({url!r} + "/cookies?n=1", profile={profile!r}),
        told(net.get({url!r}, profile={profile!r})))[1]["headers"]"""
    assert "Cookie" not in await plain.value("probe", {"code": twice.format(url=near.url, profile="plain")})
    headers = await plain.value("probe", {"code": twice.format(url=near.url, profile="browser")})
    assert headers["Cookie"] == "c0=1"
    assert headers["User-Agent"].startswith("Mozilla/5.0")
    many = f"""([net.get({near.url!r} + f"/cookies?n=50&from={{first}}", profile="browser") for first in range(0, 500, 50)],
        told(net.get({near.url!r}, profile="browser")))[1]["headers"]["Cookie"]"""
    kept = (await plain.value("probe", {"code": many})).split("; ")
    assert len(kept) == 400
    assert "c499=1" in kept
    assert "c0=1" not in kept


@pytest.mark.promise("S465")
async def test_what_is_no_address_is_requests_own_invalid_url(plain):
    code = "[failing(lambda: net.get(url))[0] for url in ('http://', 'nonsense', '', 'http://[', None)]"
    assert await plain.value("probe", {"code": code}) == ["InvalidURL"] * 5


@pytest.mark.promise("S157", "S158", "S159")
async def test_the_near_lane_ignores_the_environment_and_follows_no_redirect_unless_told(tmp_path, both):
    near, proxy = both
    wide = f"http://{WIDE}:{near.port}/wide"
    dead = """
for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
    os.environ[_name] = "http://127.0.0.1:9"
"""
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": PROBE + dead}, **on(proxy)) as room:
        for where in ("/b", wide):
            for session in ("net", f"net.session_for({near.url!r})"):
                near.forget()
                answer = await room.value("probe", {"code": f'told({session}.get({near.url!r} + "/to?where={where}"))'})
                assert answer["status"] == 302
                assert near.asked == [("GET", "/to")]
        assert proxy.names == []
        near.forget()
        followed = await room.value("probe", {"code": f'told(net.get({near.url!r} + "/to?where=/b", allow_redirects=True))'})
        assert (followed["status"], followed["path"]) == (200, "/b")
        # Who opts in is led by the proxy where it leads into the open web.
        code = f'told(net.get({near.url!r} + "/to?where={wide}", allow_redirects=True))'
        assert (await room.value("probe", {"code": code}))["path"] == "/wide"
        assert proxy.names == [WIDE]
        assert near.through == [False, False, False, True]


FLAGS = {
    "yes": {"is_local": True},
    "no": {"is_local": False, "hidden": True, "category": "media"},
    "endpoint": {"is_local": "endpoint", "writes": True},
    "network": {"network": True},
    "none": {},
}


@pytest.mark.promise("S021", "S038", "S039", "S040", "S149", "S150", "S161", "S168", "S270")
async def test_with_the_proxy_on_the_open_web_goes_by_it_whatever_the_flags_and_this_network_goes_direct(tmp_path, both):
    near, proxy = both
    listed = [schema(name, {"code": {"type": "string"}}, **flags) for name, flags in FLAGS.items()]
    file = PROBE.replace(PROBE.partition("TOOLS = ")[2].partition("\n")[0], repr(listed))
    wide = f"http://{WIDE}:{near.port}"
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": file}, **on(proxy)) as room:
        for name in FLAGS:
            assert await room.value(name, {"code": f"[net.get({wide!r}).status_code, net.get({near.url!r}).status_code]"}) == [
                200,
                200,
            ]
        assert proxy.names == [WIDE] * 5
        assert near.through == [True, False] * 5
        near.forget()
        proxy.names.clear()
        sessions = f"""(lambda w, n, b: [w.get({wide!r}).status_code, n.get({near.url!r}).status_code,
            told(b.get({wide!r}))["headers"]["User-Agent"]])(net.session_for({wide!r}),
            net.session_for({near.url!r}), net.wan_session())"""
        answer = await room.value("yes", {"code": sessions})
        assert answer[2].startswith("Mozilla/5.0")
        assert near.through == [True, False, True]
        near.forget()
        proxy.names.clear()
        # The floor: plain requests, also in a thread of the tool's own; the proxy looks names up, nobody else.
        floor = f"""[requests.get({wide!r}).status_code, in_thread(lambda: requests.get({wide!r}).status_code),
            requests.get({near.url!r}).status_code, [one for one in LOOKED_UP if one == {WIDE!r}],
            net.classify("w.example.net")]"""
        assert await room.value("none", {"code": floor}) == [200, 200, 200, [], "wan"]
        assert near.through == [True, True, False]
        assert await room.value("none", {"code": "[__import__('config').SOCKS_ENABLED, __import__('config').SOCKS_PORT]"}) == [
            True,
            proxy.port,
        ]
        # The owner switches it off: from the next call on, the same tool is direct.
        near.forget()
        await room.host.settings.set("socks", False)
        assert await room.value("yes", {"code": f"[net.get({wide!r}).status_code, requests.get({wide!r}).status_code]"}) == [
            200,
            200,
        ]
        assert near.through == [False, False]
        assert await room.value("none", {"code": "__import__('config').SOCKS_ENABLED"}) is False


@pytest.mark.promise("S163", "S164")
async def test_an_error_never_leads_to_the_other_lane(tmp_path):
    with net() as (near, proxy):
        wide = f"http://refused.example.net:{near.port}"
        gone = L()
        gone.close()
        async with sapphire(tmp_path, {"plugins/p/tools/a.py": PROBE}, **on(proxy)) as room:
            failed = await room.value("probe", {"code": f"failing(lambda: net.get({wide!r}))"})
            assert failed[1] is True
            assert near.asked == []
            assert proxy.names == ["refused.example.net"]
            failed = await room.value("probe", {"code": f"failing(lambda: net.get({gone.url!r}))"})
            assert failed[1] is True
            assert proxy.names == ["refused.example.net"]
            proxy.close()
            text, ok = await room.ran("probe", {"code": f'net.get("http://{WIDE}:{near.port}").text'})
            assert not ok
            assert "SOCKS" in text
            text, ok = await room.ran("probe", {"code": f'requests.get("http://{WIDE}:{near.port}").text'})
            assert not ok
            assert near.asked == []


REGISTERS = PROBE + '\nsocks_proxy.register_direct_hosts(lambda: ["ha.my-house.example.net", "w.example.net"], owner="p")\n'


@pytest.mark.promise("S156", "S165", "S166", "S167", "S284")
async def test_a_name_that_looks_public_is_of_this_network_while_its_plugin_says_so(tmp_path, both):
    near, proxy = both
    files = {"plugins/p/tools/a.py": REGISTERS, "plugins/q/tools/b.py": OTHER}
    async with sapphire(tmp_path, files, **on(proxy)) as room:
        names = ("ha.my-house.example.net", WIDE, "HA.My-House.example.net.", "cam.example.net")
        assert await lanes(room, *names) == ["lan", "lan", "lan", "wan"]
        assert await room.value("probe", {"code": f'net.get("http://{WIDE}:{near.port}").status_code'}) == 200
        assert (proxy.names, near.through) == ([], [False])
        # What one plugin registers moves nobody else's traffic off the proxy.
        assert await lanes(room, *names, tool="other") == ["wan"] * 4
        register = """[socks_proxy.register_direct_hosts(lambda: {names!r}, owner={owner!r}), net.classify("x.example"),
            net.classify("y.example"), net.classify("b.example")][1:]"""
        assert await room.value("other", {"code": register.format(names=["b.example"], owner="b")}) == ["wan", "wan", "lan"]
        assert await room.value("other", {"code": register.format(names=["x.example"], owner="a")}) == ["lan", "wan", "lan"]
        assert await room.value("other", {"code": register.format(names=["y.example"], owner="a")}) == ["wan", "lan", "lan"]
        room.host.tools.switch("plugin:p", False)
        room.host.tools.switch("plugin:q", False)
        room.host.tools.switch("plugin:p", True)
        room.host.tools.switch("plugin:q", True)
        await room.refreshed()
        assert await lanes(room, *names[:2]) == ["lan", "lan"]
        assert await lanes(room, "b.example", "y.example", tool="other") == ["wan", "wan"]
        # Read anew, what a call registered is gone, and what the file registers is there.
        assert await room.value("probe", {"code": register.format(names=["b.example"], owner="b")}) == ["wan", "wan", "lan"]
        assert await room.host.installed.reload("p")
        assert await lanes(room, "b.example", *names[:2]) == ["wan", "lan", "lan"]
        write(room.root, {"plugins/p/tools/a.py": PROBE})
        await room.refreshed()
        assert await lanes(room, *names[:2]) == ["wan", "wan"]


@pytest.mark.promise("S482")
async def test_get_session_sends_what_a_browser_sends_and_says_when_the_proxy_refused_the_password(tmp_path):
    with net(password="right") as (near, proxy):
        wide = f"http://{WIDE}:{near.port}"
        settings = on(proxy, socks_user="me", socks_password="${PROXY_WORD}")
        web = f"socks_proxy.get_session().get({wide!r}, timeout=10)"
        async with sapphire(tmp_path, {"plugins/p/tools/a.py": PROBE}, environ={"PROXY_WORD": "right"}, **settings) as room:
            headers = await room.value("probe", {"code": f'told({web})["headers"]'})
            assert headers["User-Agent"].startswith("Mozilla/5.0")
            assert proxy.names == [WIDE]
            assert proxy.tried == ["me:right"]
            # Where a redirect leads to never hears the proxy's password.
            hops = await room.value(
                "probe",
                {"code": f'(socks_proxy.clear_session_cache(), told(net.get({wide!r} + "/to?where=/b")))[1]["headers"]'},
            )
            assert not [name for name in hops if "proxy" in name.lower()]
        async with sapphire(
            tmp_path / "wrong", {"plugins/p/tools/a.py": PROBE}, environ={"PROXY_WORD": "no"}, **settings
        ) as room:
            failed = await room.value(
                "probe", {"code": f"[failing(lambda: {web}), issubclass(socks_proxy.SocksAuthError, Exception)]"}
            )
            assert failed[0][0] == "SocksAuthError"
            assert "password" in failed[0][2]
        async with sapphire(tmp_path / "none", {"plugins/p/tools/a.py": PROBE}, **settings) as room:
            assert [one.what for one in room.host.problems.all()] == ["socks_password"]


async def test_the_console_fetches_by_the_same_proxy_and_a_password_in_the_file_is_refused(tmp_path, both):
    _, proxy = both
    async with sapphire(tmp_path, {}, **on(proxy)) as room:
        outside: Outside = room.host.outside
        told = outside._proxy()
        assert told is not None
        assert (told.host, told.port, told.user) == ("127.0.0.1", proxy.port, "")
        with pytest.raises(Exception, match="socks_password"):
            await room.host.settings.set("socks_password", "hunter2")
        await room.host.settings.set("socks", False)
        assert outside._proxy() is None


async def test_a_plugin_that_may_not_use_the_network_is_not_told_the_proxy(tmp_path, both):
    _, proxy = both
    quiet = tool("quiet", head="import json, os", body='return json.dumps(sorted(n for n in os.environ if "PROXY" in n)), True')
    loud = quiet.replace("'quiet'", "'loud'") + "\nimport socket\n"
    files = {"plugins/p/tools/a.py": quiet, "plugins/q/tools/b.py": loud, "plugins/q/plugin.json": manifest("q", "tools/b.py")}
    async with sapphire(tmp_path, files, **on(proxy)) as room:
        assert await room.value("quiet") == []
        assert await room.value("loud") == ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"]


async def test_the_tools_of_the_shelf_and_what_comes_with_the_house_go_by_it_too(tmp_path, both, monkeypatch):
    near, proxy = both
    wide = f"http://{WIDE}:{near.port}"
    async with sapphire(tmp_path, {}, shelf=True, **on(proxy)) as room:
        text, ok = await room.ran("web_page", {"url": f"{wide}/page"})
        assert ok, text
        assert '"path": "/page"' in text
        assert (proxy.names, near.through) == ([WIDE], [True])
        # What is of this network by its spelling is refused as ever, and the proxy hears nothing of it.
        for url in (near.url, "http://2130706433/", "http://printer.local/", "http://nas/"):
            assert not (await room.ran("web_page", {"url": url}))[1]
        assert proxy.names == [WIDE]
    monkeypatch.setenv("ALL_PROXY", f"socks5h://127.0.0.1:{proxy.port}")
    near.forget()
    assert await Service("it", wide, {}, 10).get("/a")
    assert await Service("it", near.url, {}, 10).get("/a")
    assert near.through == [True, False]


async def test_a_result_does_not_hold_the_password_of_the_proxy(tmp_path):
    with net(password="right word/1") as (_, proxy):
        settings = on(proxy, socks_user="me", socks_password="${PROXY_WORD}")
        async with sapphire(
            tmp_path, {"plugins/p/tools/a.py": PROBE}, environ={"PROXY_WORD": "right word/1"}, **settings
        ) as room:
            text, _ = await room.ran("probe", {"code": "os.environ['ALL_PROXY'] + ' right word/1'"})
            assert "me:" in text
            assert "word" not in text
