"""What a plugin visibly asks for, read from its source without running it: network, programs, writing, variables.

Files of other assistants were written for hosts that hold nothing back, so they declare little of what they use. What they
name in so many words is read here; what they hide is not found, and the kernel keeps it from them.
Above: the contracts. Below: the nouns. It refuses to know: who gives a grant, and what a contract declares.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from etui.contracts.importing import LARGEST
from etui.tool import Grant


def _all(*words: str) -> frozenset[str]:
    return frozenset(" ".join(words).split())


NETWORK = _all(
    "socket ssl http.client http.server urllib.request urllib3 requests requests_html httpx httpx2 aiohttp httplib2",
    "pycurl websocket websockets ftplib smtplib imaplib poplib nntplib telnetlib xmlrpc.client socketserver asyncssh",
    "paramiko feedparser grpc zeroconf paho aiomqtt dns wikipedia yfinance duckduckgo_search ddgs praw tweepy discord",
    "telegram slack_sdk openai anthropic cohere google.generativeai googleapiclient boto3 botocore twilio stripe",
    "spotipy caldav pymongo redis psycopg psycopg2 asyncpg pymysql aiomysql yt_dlp youtube_dl playwright selenium",
    "trafilatura newspaper pychromecast soco scapy gtts deep_translator googletrans pyowm geocoder phue aiohue tinytuya miio",
    "broadlink kasa plexapi mpd todoist_api_python notion_client github gitlab jira imap_tools exchangelib wikipediaapi",
    "mwclient pytube ccxt influxdb_client elasticsearch mastodon atproto apprise wakeonlan samsungtvws pyicloud gmqtt pika",
    "nats zmq ldap3 fabric netmiko speedtest ping3 requests_oauthlib qbittorrentapi transmission_rpc etui.extras",
)
"""Modules whose import asks for the network."""
PROGRAMS = _all(
    "subprocess pty pexpect sh plumbum playwright selenium git invoke fabric nmap pyperclip playsound pydub ffmpeg",
    "pytesseract gnupg",
)
"""Modules whose import asks for other programs."""
STORES = _all("sqlite3 aiosqlite sqlalchemy peewee tinydb diskcache shelve dbm tempfile")
"""Modules whose import asks for writing."""
_NETWORK_CALLS = _all(
    "open_connection start_server open_unix_connection create_connection create_server create_datagram_endpoint"
)
_PROGRAM_CALLS = _all(
    "system popen posix_spawn posix_spawnp startfile execl execle execlp execlpe execv execve execvp",
    "execvpe spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe",
)
"""Functions of `os`. A fork alone starts no program, and nothing of a worker's is good for two processes."""
_PROGRAM_METHODS = _all("create_subprocess_exec create_subprocess_shell subprocess_exec subprocess_shell")
_OS_WRITES = _all(
    "remove unlink rename renames replace mkdir makedirs rmdir removedirs truncate symlink link chmod utime mkfifo",
)
_OS_FLAGS = _all("O_WRONLY O_RDWR O_CREAT O_APPEND O_TRUNC")
_SHUTIL_READS = _all("which disk_usage get_terminal_size get_archive_formats get_unpack_formats ignore_patterns")
_WRITERS = _all("FileHandler RotatingFileHandler TimedRotatingFileHandler WatchedFileHandler urlretrieve")
"""What writes a file by itself, wherever it was imported from."""
_WRITE_METHODS = _all(
    "write_text write_bytes mkdir unlink rmdir touch symlink_to hardlink_to savefig savez savez_compressed savetxt",
    "to_csv to_json to_excel to_parquet to_pickle imwrite extractall",
)
_ONE_ARGUMENT = _all("rename replace")
"""Methods that write when they are called with one path; text has methods of the same names that take two arguments."""
_OPENERS = _all(
    "open io.open builtins.open zipfile.ZipFile tarfile.open gzip.open bz2.open lzma.open codecs.open",
)
"""What opens a file in the mode that its second argument names."""
_READERS = _all("os.getenv os.getenvb os.environ.get os.environ.pop os.environ.setdefault")
"""What reads the variable that its first argument names."""
_ALIASED = _READERS | {"os.environ"}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""A text that looks like the name of a variable."""
_GIVEN = _all("PATH LANG HOME TZ")
"""Variables that every worker has."""


def parsed(file: str | Path) -> Sequence[ast.AST]:
    """Every node of a file; none of one that is no Python, is too big, or cannot be read."""
    try:
        return parsed_text(Path(file).read_bytes(), file) if Path(file).stat().st_size <= LARGEST else ()
    except OSError:
        return ()


def parsed_text(text: bytes, file: str | Path) -> Sequence[ast.AST]:
    """Every node of a file with these bytes; none of one that is no Python or is too big."""
    if len(text) > LARGEST:
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(ast.walk(ast.parse(text, str(file))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def wishes(nodes: Sequence[ast.AST], work: str) -> Grant:
    """What one parsed file asks for; `work` is the working folder, the one place that may be asked for."""
    return _Asked(nodes).grant(work)


class _Asked:
    """One file, looked through."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._names = dict(_imported(nodes))
        """What the names of the file stand for, with dots."""
        self._roots = {module.split(".")[0] for module in self._names.values()}
        """What was imported from, so that a name below it is no other thing of that name."""
        self._names |= {name: dotted for name, value in _assigned(nodes) if (dotted := self._dotted(value)) in _ALIASED}
        self._constants = dict(_constants(nodes))
        self._nodes = nodes
        self._network = self._programs = self._writes = False
        self._variables: set[str] = set()
        for module in set(self._names.values()) | set(_modules(nodes)):
            self._module(module)
        for node in nodes:
            self._node(node)

    def grant(self, work: str) -> Grant:
        """All of it."""
        return Grant(
            write=(work,) if work and self._writes else (),
            network=self._network,
            subprocess=self._programs,
            env=tuple(sorted(self._variables - _GIVEN)),
        )

    def _module(self, module: str) -> None:
        parts = module.split(".")
        names = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
        self._network |= not names.isdisjoint(NETWORK)
        self._programs |= not names.isdisjoint(PROGRAMS)
        self._writes |= not names.isdisjoint(STORES)
        self._name(module)

    def _name(self, dotted: str) -> None:
        """A thing by its full name."""
        head, _, tail = dotted.rpartition(".")
        if head in ("os", "posix", "nt"):
            self._programs |= tail in _PROGRAM_CALLS
            self._writes |= tail in _OS_WRITES or tail in _OS_FLAGS
        elif head == "shutil":
            self._writes |= tail not in _SHUTIL_READS
        self._writes |= tail in _WRITERS
        self._programs |= tail in _PROGRAM_METHODS
        self._network |= tail in _NETWORK_CALLS

    def _node(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(attr=attr):
                self._name(dotted := self._dotted(node) or f"?.{attr}")
                if dotted.split(".")[0] in self._roots:
                    self._module(dotted)
            case ast.Call():
                self._call(node)
            case ast.Subscript(slice=key) if self._dotted(node.value) == "os.environ":
                self._variable(key)
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[right]) if (
                self._dotted(right) == "os.environ"
            ):
                self._variable(key)

    def _call(self, call: ast.Call) -> None:
        name = self._dotted(call.func)
        if name in _READERS and call.args:
            self._variable(call.args[0])
        elif name in ("open", "io.open", "builtins.open") or name in (
            "zipfile.ZipFile",
            "tarfile.open",
            "gzip.open",
            "bz2.open",
            "lzma.open",
            "codecs.open",
        ):
            self._writes |= _writing(call, 1, unsure=True)
        elif isinstance(call.func, ast.Attribute):
            method = call.func.attr
            self._writes |= method in _WRITE_METHODS or (method in _ONE_ARGUMENT and len(call.args) == 1)
            self._writes |= method == "save" and bool(call.args)
            # The mode comes first where the file is the object, and second where that is a module.
            opens = method == "open" and name != "os.open"
            self._writes |= opens and any(_writing(call, place, unsure=False) for place in (0, 1))
            self._writes |= name == "logging.basicConfig" and any(keyword.arg == "filename" for keyword in call.keywords)

    def _variable(self, key: ast.expr) -> None:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            self._variables.add(key.value)
        elif isinstance(key, ast.Name) and key.id in self._constants:
            self._variables.add(self._constants[key.id])
        elif isinstance(key, ast.Name) and key.id not in self._names:
            # A helper's argument, or one of a list: what looks like a name in the file is what it is called with.
            texts = {node.value for node in self._nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            self._variables |= set(filter(_VARIABLE.fullmatch, texts))

    def _dotted(self, node: ast.expr) -> str:
        """The full name of what an expression names; empty if it names nothing."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (head := self._dotted(node.value)):
            return f"{head}.{node.attr}"
        return ""


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names that imports bind, each with what it stands for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _modules(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The modules that are imported under their full names, or by name at run time."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.Call(
                func=ast.Name(id="__import__") | ast.Attribute(attr="import_module") | ast.Name(id="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Names that are given something that has a name."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value):
                yield name, value


def _constants(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names that are given one text."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                yield name, text
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text))):
                yield name, text


def _writing(call: ast.Call, place: int, *, unsure: bool) -> bool:
    """Whether it opens a file in a mode that writes; `unsure` is the answer for one that is worked out at run time."""
    mode = call.args[place] if len(call.args) > place else None
    mode = next((keyword.value for keyword in call.keywords if keyword.arg == "mode"), mode)
    if isinstance(mode, ast.Constant):
        return isinstance(mode.value, str) and len(mode.value) < 5 and not set(mode.value).isdisjoint("wax+")
    return mode is not None and unsure
