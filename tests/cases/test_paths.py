"""Section N: links and swaps in the working folder, through a real worker. `tests/test_jail.py` asks every act."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.cases.desk import Desk

from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS = '''
import os
from pathlib import Path
from etui import Context, tool

@tool(risk="write")
def put(ctx: Context, name: str, text: str) -> str:
    """Writes."""
    ctx.files.write_text(name, text)
    return "written"

@tool(risk="write")
def take(ctx: Context, name: str) -> str:
    """Reads."""
    return ctx.files.read_text(name)

@tool(risk="write")
def around(ctx: Context, name: str) -> str:
    """Reads past the jail, by Python's own means."""
    return Path(name).read_text()

@tool(risk="write")
def put_around(ctx: Context, name: str, text: str) -> str:
    """Writes past the jail, by Python's own means."""
    Path(name).write_text(text)
    return "written"

@tool(risk="write")
def swap(ctx: Context, secret: str, times: int) -> str:
    """Makes a file and a folder into links and back, over and over."""
    os.chdir(ctx.files.path("."))
    for number in range(times):
        for name, target in (("swapped.txt", secret), ("inner", os.path.dirname(secret))):
            os.symlink(target, "link")
            os.rename(name, "aside")
            os.rename("link", name)
            os.unlink(name)
            os.rename("aside", name)
    return "swapped"

@tool(risk="write", timeout=20)
def take_many(ctx: Context, name: str, times: int) -> list:
    """Reads over and over, and says which texts it saw."""
    seen = set()
    for _ in range(times):
        try:
            seen.add(ctx.files.read_text(name))
        except Exception as error:
            seen.add(type(error).__name__)
    return sorted(seen)

@tool(risk="write", timeout=20)
def put_many(ctx: Context, name: str, times: int) -> int:
    """Writes over and over."""
    for _ in range(times):
        try:
            ctx.files.write_text(name, "mine")
        except Exception:
            pass
    return times
'''
SECRET = "the secret"


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "secret.txt").write_text(SECRET)
    return folder


async def ready(desk: Desk) -> Path:
    if "put" not in desk.names():
        desk.save("paths.py", TOOLS)
        desk.save("paths_more.py", TOOLS.replace("def ", "def more_"))
        await desk.offered("put", "put_many", "more_swap")
        assert await desk.value("put", name="own.txt", text="own") == "written"
    return desk.host.home / "files"


LEADS_OUT = {
    "a new file behind a linked folder": lambda work, out: ((work / "out").symlink_to(out), "out/new.txt")[1],
    "a file behind a linked folder": lambda work, out: ((work / "out").symlink_to(out), "out/secret.txt")[1],
    "a link to a file": lambda work, out: ((work / "out").symlink_to(out / "secret.txt"), "out")[1],
    "a link that leads nowhere yet": lambda work, out: ((work / "out").symlink_to(out / "new.txt"), "out")[1],
    "a chain of links": lambda work, out: (
        (work / "one").symlink_to("two"),
        (work / "two").symlink_to("out"),
        (work / "out").symlink_to(out),
        "one/secret.txt",
    )[3],
    "a relative link": lambda work, out: ((work / "out").symlink_to(os.path.relpath(out, work)), "out/secret.txt")[1],
    "a hard link": lambda work, out: (os.link(out / "secret.txt", work / "out"), "out")[1],
    "dots": lambda work, out: os.path.relpath(out / "secret.txt", work),
    "dots behind a folder": lambda work, out: ((work / "out").mkdir(), "out/../../config.toml")[1],
    "a whole path": lambda work, out: str(out / "secret.txt"),
    "a home": lambda work, out: "~/secret.txt",
    "a link to the root": lambda work, out: ((work / "out").symlink_to("/"), f"out{out}/secret.txt")[1],
    "a link to /proc": lambda work, out: ((work / "out").symlink_to("/proc/self/root"), f"out{out}/secret.txt")[1],
}


@pytest.mark.parametrize("way", LEADS_OUT)
async def test_nothing_is_read_or_written_by_a_name_that_leads_out(desk: Desk, outside: Path, way: str):
    """R136: also where the target does not exist yet; and the kernel holds a tool that goes around."""
    work = await ready(desk)
    name = LEADS_OUT[way](work, outside)
    taken = await desk.call("take", {"name": name})
    put = await desk.call("put", {"name": name, "text": "mine"})
    around = await desk.call("put_around", {"name": str(work / name), "text": "mine"})
    assert SECRET not in taken.text + put.text
    assert taken.status is not Status.OK
    if way != "a home":
        assert put.status is not Status.OK
        assert put.status is Status.REFUSED or way == "dots behind a folder", put
        assert put.text.strip().endswith(".") and "Traceback" not in put.text
    if way not in ("a hard link", "a home"):
        assert around.status is not Status.OK
        assert (outside / "secret.txt").read_text() == SECRET
        assert not (outside / "new.txt").exists()
    for made in ("out", "one", "two"):
        if (work / made).is_symlink() or (work / made).is_file():
            (work / made).unlink()
        elif (work / made).is_dir():
            (work / made).rmdir()
    assert await desk.value("take", name="own.txt") == "own"


async def test_a_swap_between_check_and_use_lets_nothing_out(desk: Desk, outside: Path):
    """R137: another plugin swaps a file and a parent folder for links while this one reads and writes them."""
    work = await ready(desk)
    (work / "swapped.txt").write_text("plain")
    (work / "inner").mkdir()
    (work / "inner" / "secret.txt").write_text("plain")
    swapping = asyncio.create_task(desk.call("more_swap", {"secret": str(outside / "secret.txt"), "times": 3000}))
    reads = [desk.call("take_many", {"name": name, "times": 1500}) for name in ("swapped.txt", "inner/secret.txt")]
    writes = [desk.call("put_many", {"name": "inner/secret.txt", "times": 300})]
    outcomes = await asyncio.gather(*reads, *writes)
    assert (await swapping).text
    for outcome in outcomes[:2]:
        assert outcome.ok, outcome
        assert SECRET not in outcome.data
        assert set(outcome.data) <= {
            "plain",
            "mine",
            "FileNotFoundError",
            "Outside",
            "NotADirectoryError",
            "OSError",
            "Refusal",
        }
    assert (outside / "secret.txt").read_text() == SECRET
    assert os.listdir(outside) == ["secret.txt"]
