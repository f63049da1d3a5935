"""What a plugin visibly asks for, read from its source without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from etui.contracts.wishes import parsed, wishes
from etui.tool import Grant

NOTHING = Grant()
NETWORK = Grant(network=True)
PROGRAMS = Grant(subprocess=True)
WRITES = Grant(write=("/work",))


def variables(*names: str) -> Grant:
    return Grant(env=names)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("import httpx", NETWORK),
        ("from urllib import request", NETWORK),
        ("import urllib.request as r", NETWORK),
        ("import urllib.parse", NOTHING),
        ("def f():\n    from aiohttp import ClientSession", NETWORK),
        ("import importlib\nimportlib.import_module('requests')", NETWORK),
        ("__import__('socket')", NETWORK),
        ("import asyncio\nasyncio.open_connection('h', 1)", NETWORK),
        ("import subprocess", PROGRAMS),
        ("import os as system\nsystem.popen('x')", PROGRAMS),
        ("from os import execv as go", PROGRAMS),
        ("import asyncio\nasyncio.create_subprocess_exec('rg')", PROGRAMS),
        ("import shutil\nshutil.which('rg')", NOTHING),
        ("import shutil\nshutil.move(a, b)", WRITES),
        ("open('x')", NOTHING),
        ("open('x', 'rb')", NOTHING),
        ("open('x', 'a')", WRITES),
        ("open('x', mode=mode)", WRITES),
        ("path.open()", NOTHING),
        ("path.open('r+')", WRITES),
        ("Image.open('wax.png')", NOTHING),
        ("import webbrowser\nwebbrowser.open(page)", NOTHING),
        ("path.write_text('x')", WRITES),
        ("text.replace('a', 'b')", NOTHING),
        ("path.replace(other)", WRITES),
        ("import os\nos.replace(a, b)", WRITES),
        ("names.remove('x')", NOTHING),
        ("import os\nos.remove('x')", WRITES),
        ("import os\nos.open('x', os.O_RDONLY)", NOTHING),
        ("import os\nos.open('x', os.O_CREAT | os.O_WRONLY)", WRITES),
        ("import os.path\nos.path.join('a')", NOTHING),
        ("import sqlite3", WRITES),
        ("import tempfile", WRITES),
        ("from tempfile import TemporaryDirectory", WRITES),
        ("import logging\nlogging.FileHandler('x.log')", WRITES),
        ("from logging.handlers import RotatingFileHandler as Rotating", WRITES),
        ("import logging\nlogging.basicConfig(filename='x.log')", WRITES),
        ("import logging\nlogging.basicConfig(level=20)", NOTHING),
        ("import numpy as np\nnp.save('a.npy', found)", WRITES),
        ("picture.save(path, 'PNG')", WRITES),
        ("settings.save()", NOTHING),
        ("import wave\nwave.open('a.wav', 'wb')", WRITES),
        ("import wave\nwave.open('a.wav', 'rb')", NOTHING),
        ("aiofiles.open('a.txt', mode='w')", WRITES),
        ("from urllib.request import urlretrieve", NETWORK | WRITES),
        ("import urllib\nurllib.request.urlopen(page)", NETWORK),
        ("requests = []\nrequests.append(1)", NOTHING),
        (
            "import os\nos.getenv('A')\nos.environ['B']\n'C' in os.environ\nos.environ.get('D', 1)",
            variables("A", "B", "C", "D"),
        ),
        ("from os import environ as e, getenv\nNAME = 'D'\ne.get(NAME)\ngetenv('E')", variables("D", "E")),
        ("import os\nos.environ['PATH']\nos.environ[name]", NOTHING),
        ("environ = {}\nenviron['A']", NOTHING),
        (
            "import os\nenv = os.environ\nget = os.getenv\nenv['A']\n'B' in env\nenv.get('C')\nget('D')",
            variables("A", "B", "C", "D"),
        ),
        ("import os\nNEEDED = ('A_KEY', 'B_KEY')\nall(os.getenv(name) for name in NEEDED)", variables("A_KEY", "B_KEY")),
        ("import os\ndef there(name):\n    return name in os.environ\nthere('A_KEY') or print('B')", variables("A_KEY")),
    ],
)
def test_what_is_asked_for_in_so_many_words_is_found(tmp_path: Path, text: str, asked: Grant) -> None:
    file = tmp_path / "plugin.py"
    file.write_text(text)
    assert wishes(parsed(file), "/work") == asked


@pytest.mark.parametrize("data", [b"def (:\n", b"\xff\xfe\x00", b"x = 1\0", b"(" * 5000, b""])
def test_what_is_no_python_asks_for_nothing(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "plugin.py"
    file.write_bytes(data)
    assert wishes(parsed(file), "/work") == NOTHING
    assert list(parsed(tmp_path / "none.py")) == []
