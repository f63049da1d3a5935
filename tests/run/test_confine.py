"""Every way out that we know of, tried under each grant: as root and as an ordinary user, with and without Landlock."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from etui.run import landlock, limits, seccomp, syscalls
from etui.run.confine import Limits, probe, rules
from etui.run.enforced import Enforced
from etui.tool import Grant

SCRIPT = Path(__file__).with_name("attempts.py")
USERS = (0, 65534) if os.getuid() == 0 else (os.getuid(),)
GRANTS = ("read", "write", "network", "exec")
NOBODY_MAY = {
    *("write a new file outside", "append outside", "truncate by path outside", "delete outside", "rename outside"),
    *("make a folder outside", "move a file out of the folder", "write through a symlink", "write through a hard link"),
    *("write to /dev/shm", "setxattr outside", "chown outside", "read outside", "list outside", "read /etc/passwd"),
    *("read the host's environment", "open the host's memory", "list the host's descriptors"),
    *("connect to a UNIX path", "connect to an abstract UNIX name", "send a datagram of a socketpair to a path"),
    *("open a generic netlink socket", "open a vsock", "set up io_uring", "signal the host", "signal everybody"),
    *("trace the host", "read the host's memory", "take a descriptor of the host", "limit the host", "slow the host down"),
    *("make a user namespace", "make a namespace by clone", "mount", "change the root", "make a device"),
    *("load a program into the kernel", "set the clock", "use a key ring", "attach shared memory of System V"),
    *("type into a terminal", "become root", "raise the own limits"),
}
EVERYBODY_MAY = {
    *("read in the own folder", "use a thread", "use asyncio", "import the standard library", "map memory"),
    *("write to /dev/null", "read random numbers"),
}
ONLY_PRETENDED = {"chmod outside", "utime outside"}
"""With a working folder these say "done" and do nothing: seccomp cannot see which file is meant."""
WRITERS_MAY = {"write in the own folder", "copy, touch and move in the own folder", "use a temporary file"}
NETWORKERS_MAY = {"connect by TCP", "send by UDP", "listen on TCP", "look up names"}
IF_THE_KERNEL_HAS_IT = {"connect by MPTCP"}
RUNNERS_MAY = {"fork", "run a program", "run a program out of memory", "run a shell pipeline"}


class Place:
    """A folder to work in, one outside of it, and things of the host's to get at."""

    def __init__(self, base: Path) -> None:
        self.out, self.work = base / "outside", base / "work"
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._udp.setblocking(False)
        self._unix = socket.socket(socket.AF_UNIX)
        self._unix.bind(str(base / "host.sock"))
        self._unix.listen()
        self._datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._datagrams.bind(str(base / "datagrams.sock"))
        self._abstract = socket.socket(socket.AF_UNIX)
        self._abstract.bind(f"\0etui-{base.name}")
        self._abstract.listen()
        self.base = base
        os.chmod(base, 0o777)
        for name in ("host.sock", "datagrams.sock"):
            os.chmod(base / name, 0o777)

    def fill(self, uid: int) -> None:
        for folder in (self.out, self.work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            os.chown(folder, uid, uid)
            os.chmod(folder, 0o777)
        for path in (*(self.out / name for name in "abc"), self.work / "given"):
            path.write_text("keep")
            os.chmod(path, 0o644)
            os.utime(path, (1000, 1000))
            os.chown(path, uid, uid)

    def spec(self, grant: Grant, uid: int, host: int, abi: int | None) -> str:
        return json.dumps(
            {
                "grant": msgspec.to_builtins(grant),
                "uid": uid,
                "out": str(self.out),
                "work": str(self.work),
                "host": host,
                "tcp": self._tcp.getsockname()[1],
                "udp": self._udp.getsockname()[1],
                "unix": str(self.base / "host.sock"),
                "datagrams": str(self.base / "datagrams.sock"),
                "abstract": f"etui-{self.base.name}",
                "landlock": abi,
            }
        )

    def received(self) -> bytes:
        try:
            return self._udp.recv(100)
        except BlockingIOError:
            return b""

    def untouched(self) -> bool:
        """Whether everything outside is as it was."""
        names = sorted(path.name for path in self.out.iterdir())
        states = [(path.read_text(), stat.S_IMODE(path.stat().st_mode), path.stat().st_mtime) for path in self.out.iterdir()]
        return names == ["a", "b", "c"] and set(states) == {("keep", 0o644, 1000.0)}

    def close(self) -> None:
        for end in (self._tcp, self._udp, self._unix, self._datagrams, self._abstract):
            end.close()


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    base = Path(tempfile.mkdtemp(prefix="etui-proof-"))
    made = Place(base)
    yield made
    made.close()
    shutil.rmtree(base)


def grant_of(name: str, place: Place) -> Grant:
    wider = GRANTS.index(name)
    return Grant(write=(str(place.work),) if wider >= 1 else (), network=wider >= 2, subprocess=wider >= 3)


@contextlib.contextmanager
def host(uid: int) -> Iterator[int]:
    """A process of the same user as the worker, which stands for the host."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(writing)
            if uid != os.getuid():
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            limits.shield()
            os.read(reading, 1)
        finally:
            os._exit(0)
    os.close(reading)
    try:
        yield pid
    finally:
        os.close(writing)
        os.waitpid(pid, 0)


def attempt(place: Place, grant: Grant, uid: int, abi: int | None = None) -> tuple[Enforced, dict[str, str]]:
    place.fill(uid)
    root = str(Path(landlock.__file__).parents[2])
    with host(uid) as pid:
        ran = subprocess.run(
            [sys.executable, "-B", str(SCRIPT), place.spec(grant, uid, pid, abi)],
            capture_output=True,
            text=True,
            env={"PATH": os.defpath, "PYTHONPATH": root},
            timeout=60,
        )
    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout)
    return msgspec.convert(results.pop("enforced"), Enforced), results


def reachable(uid: int) -> bool:
    """Whether that user could read this Python at all; a home folder of root's may be in the way."""
    stem = Path(os.__file__)
    return uid == 0 or all(parent.stat().st_mode & 0o001 for parent in stem.parents)


@pytest.mark.parametrize("uid", USERS)
@pytest.mark.parametrize("name", GRANTS)
def test_a_grant_holds_against_every_attempt(place, name, uid):
    grant = grant_of(name, place)
    enforced, results = attempt(place, grant, uid)
    assert enforced == Enforced(
        files="kernel", reads="kernel", network="kernel", subprocess="kernel", memory="rlimit", landlock=landlock.version()
    )
    done = {attempted for attempted, result in results.items() if result == "done"}
    wanted = EVERYBODY_MAY | set(ONLY_PRETENDED if grant.write else ())
    for granted, more in ((grant.write, WRITERS_MAY), (grant.network, NETWORKERS_MAY), (grant.subprocess, RUNNERS_MAY)):
        wanted |= more if granted else set()
    if not reachable(uid):
        done.discard("import the standard library")
        wanted.discard("import the standard library")
    assert done - IF_THE_KERNEL_HAS_IT == wanted
    assert not done & NOBODY_MAY
    assert grant.network or "connect by MPTCP" not in done
    assert place.untouched()
    assert place.received() == (b"leak" if grant.network else b"")
    assert set(results) == (
        NOBODY_MAY | EVERYBODY_MAY | ONLY_PRETENDED | WRITERS_MAY | NETWORKERS_MAY | RUNNERS_MAY | IF_THE_KERNEL_HAS_IT
    )


@pytest.mark.parametrize("abi", [1, 2, 3, 5])
def test_an_older_landlock_holds_as_well(place, abi):
    enforced, results = attempt(place, grant_of("write", place), USERS[-1], abi)
    assert (enforced.files, enforced.landlock) == ("kernel", abi)
    assert place.untouched()
    done = {attempted for attempted, result in results.items() if result == "done"}
    assert not done & NOBODY_MAY


def test_without_landlock_nothing_is_written_by_a_worker_that_only_reads(place):
    enforced, results = attempt(place, Grant(), USERS[-1], 0)
    assert (enforced.files, enforced.reads, enforced.network, enforced.landlock) == ("kernel", "none", "kernel", 0)
    assert not enforced.whole
    assert place.untouched()
    assert results["write in the own folder"] == "EACCES"
    assert results["read outside"] == "done"


def test_without_landlock_a_worker_that_writes_says_that_nothing_holds_it(place):
    enforced, _ = attempt(place, grant_of("write", place), USERS[-1], 0)
    assert (enforced.files, enforced.reads) == ("none", "none")


def test_a_unix_socket_can_be_granted_by_its_name(place):
    grant = Grant(write=(str(place.base / "host.sock"),))
    _, results = attempt(place, grant, USERS[-1])
    assert results["connect to a UNIX path"] == "done"
    assert results["connect by TCP"] == "EACCES"


def test_what_is_granted_to_read_can_be_read(place):
    _, results = attempt(place, Grant(read=(str(place.out),)), USERS[-1])
    assert results["read outside"] == "done"
    assert results["append outside"] == "EACCES"


def test_probe_says_what_an_empty_grant_would_get():
    assert probe() == Enforced(
        files="kernel", reads="kernel", network="kernel", subprocess="kernel", memory="rlimit", landlock=landlock.version()
    )


def test_no_rule_lets_a_worker_write_what_it_was_not_granted():
    written = [path for path, access in rules(Limits(work="/srv/work")) if access & landlock.WRITE & ~landlock.READ]
    assert all(path.startswith("/dev/") for path in written)


@pytest.mark.parametrize("column", [1, 2])
def test_a_number_means_one_call_on_each_machine(column):
    names = [name for name in vars(syscalls) if name.startswith("_") and name[1:] in vars(syscalls) and name != "_COLUMN"]
    assert len(names) == 13
    seen: dict[int, str] = {}
    for family in names:
        for call, number in syscalls.numbers(getattr(syscalls, family), column).items():
            assert seen.setdefault(number, call) == call
            assert number < syscalls.NEWEST


@pytest.mark.parametrize("subprocess_", [False, True])
def test_a_filter_is_short_enough_for_the_kernel(subprocess_):
    program = seccomp.program(write=False, network=True, subprocess=subprocess_, unix=True)
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096
