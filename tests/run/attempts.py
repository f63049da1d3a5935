"""What a worker may try to get at: run as `attempts.py SPEC`, it confines itself as told and tries everything once.

SPEC is JSON: the grant, the user to become first, the places and ports to try. Prints JSON: for each attempt "done", or the
name of the error that stopped it. It is a process of its own, so that nothing of the test's is confined.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import ctypes
import encodings.idna
import errno
import json
import mmap
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import msgspec

from etui.run.confine import Limits, confine
from etui.tool import Grant

SPEC = json.loads(sys.argv[1])
OUT, WORK, HOST = SPEC["out"], SPEC["work"], SPEC["host"]
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"


def call(number: int, *arguments: object) -> int:
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def write(path: str, mode: str = "w") -> None:
    with open(path, mode) as file:
        file.write("x")


def connect(family: int, address: object, kind: int = socket.SOCK_STREAM, protocol: int = 0) -> None:
    with socket.socket(family, kind, protocol) as end:
        end.settimeout(2)
        end.connect(address)


def through_symlink() -> None:
    os.symlink(f"{OUT}/a", f"{WORK}/link")
    write(f"{WORK}/link")


def through_hardlink() -> None:
    os.link(f"{OUT}/b", f"{WORK}/hard")
    write(f"{WORK}/hard")


def shared_memory() -> None:
    name = f"/dev/shm/etui-{os.getpid()}"
    write(name)
    os.unlink(name)


def udp() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.sendto(b"leak", ("127.0.0.1", SPEC["udp"]))


def datagram_pair_to_path() -> None:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.sendto(b"leak", SPEC["datagrams"])


def listen() -> None:
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        end.listen()


def io_uring() -> None:
    os.close(call(425, 2, ctypes.create_string_buffer(256)))


def read(path: str) -> None:
    Path(path).read_bytes()


def exec_memory() -> None:
    descriptor = os.memfd_create("x")
    os.write(descriptor, Path("/bin/true").read_bytes())
    pid = os.fork()
    if pid == 0:
        try:
            os.execve(descriptor, ["x"], {})
        finally:
            os._exit(9)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise PermissionError(errno.EACCES, "")


def raise_limit() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (soft * 2, resource.RLIM_INFINITY))


def copy_in_work() -> None:
    write(f"{WORK}/one")
    shutil.copy(f"{WORK}/one", f"{WORK}/two")
    shutil.copy2(f"{WORK}/one", f"{WORK}/three")
    shutil.copytree(WORK, f"{WORK}/tree", dirs_exist_ok=True, ignore=shutil.ignore_patterns("tree", "link"))
    Path(f"{WORK}/one").touch()
    Path(f"{WORK}/four").touch()
    os.replace(f"{WORK}/two", f"{WORK}/five")
    shutil.rmtree(f"{WORK}/tree")


def temporary_file() -> None:
    os.chdir(WORK)
    tempfile.tempdir = None
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("x")


def thread() -> None:
    started = threading.Thread(target=int)
    started.start()
    started.join()


def loop() -> None:
    async def main() -> int:
        await asyncio.sleep(0)
        return await asyncio.to_thread(lambda: 1)

    assert asyncio.run(main()) == 1


def imports() -> None:
    import decimal
    import difflib
    import email.mime.text
    import sqlite3
    import ssl
    import urllib.request
    import xml.etree.ElementTree
    import zoneinfo

    assert decimal and difflib and email.mime.text and urllib.request and xml.etree.ElementTree
    assert sqlite3.connect(":memory:").execute("select 1").fetchone() == (1,)
    assert ssl.create_default_context()
    assert zoneinfo.ZoneInfo("Asia/Tokyo")


ATTEMPTS = {
    "write a new file outside": lambda: write(f"{OUT}/new"),
    "append outside": lambda: write(f"{OUT}/a", "a"),
    "truncate by path outside": lambda: os.truncate(f"{OUT}/b", 0),
    "delete outside": lambda: os.unlink(f"{OUT}/c"),
    "rename outside": lambda: os.rename(f"{OUT}/a", f"{OUT}/z"),
    "make a folder outside": lambda: os.mkdir(f"{OUT}/d"),
    "move a file out of the folder": lambda: (write(f"{WORK}/leaving"), os.rename(f"{WORK}/leaving", f"{OUT}/arrived")),
    "write through a symlink": through_symlink,
    "write through a hard link": through_hardlink,
    "write to /dev/shm": shared_memory,
    "chmod outside": lambda: os.chmod(f"{OUT}/b", 0o600),
    "utime outside": lambda: os.utime(f"{OUT}/b", (1, 1)),
    "setxattr outside": lambda: os.setxattr(f"{OUT}/b", "user.x", b"1"),
    "chown outside": lambda: os.chown(f"{OUT}/b", 1, 1),
    "write in the own folder": lambda: write(f"{WORK}/mine"),
    "read in the own folder": lambda: read(f"{WORK}/given"),
    "copy, touch and move in the own folder": copy_in_work,
    "use a temporary file": temporary_file,
    "read outside": lambda: read(f"{OUT}/b"),
    "list outside": lambda: os.listdir(OUT),
    "read /etc/passwd": lambda: read("/etc/passwd"),
    "read the host's environment": lambda: read(f"/proc/{HOST}/environ"),
    "open the host's memory": lambda: read(f"/proc/{HOST}/mem"),
    "list the host's descriptors": lambda: os.listdir(f"/proc/{HOST}/fd"),
    "connect by TCP": lambda: connect(socket.AF_INET, ("127.0.0.1", SPEC["tcp"])),
    "connect by MPTCP": lambda: connect(socket.AF_INET, ("127.0.0.1", SPEC["tcp"]), protocol=262),
    "send by UDP": udp,
    "connect to a UNIX path": lambda: connect(socket.AF_UNIX, SPEC["unix"]),
    "connect to an abstract UNIX name": lambda: connect(socket.AF_UNIX, "\0" + SPEC["abstract"]),
    "send a datagram of a socketpair to a path": datagram_pair_to_path,
    "listen on TCP": listen,
    "open a generic netlink socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16).close(),
    "open a vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close(),
    "look up names": lambda: socket.getaddrinfo("localhost", 80),
    "set up io_uring": io_uring,
    "signal the host": lambda: os.kill(HOST, signal.SIGCONT),
    "signal everybody": lambda: os.kill(-1, 0),
    "trace the host": lambda: call(101 if X86 else 117, 0x4206, HOST, 0, 0),
    "read the host's memory": lambda: call(310 if X86 else 270, HOST, None, 0, None, 0, 0),
    "take a descriptor of the host": lambda: call(438, os.pidfd_open(HOST), 0, 0),
    "limit the host": lambda: resource.prlimit(HOST, resource.RLIMIT_NOFILE, (3, 3)),
    "slow the host down": lambda: os.setpriority(os.PRIO_PROCESS, HOST, 19),
    "make a user namespace": lambda: call(272 if X86 else 97, 0x10000000),
    "make a namespace by clone": lambda: call(56 if X86 else 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
    "mount": lambda: call(165 if X86 else 40, b"none", WORK.encode(), b"tmpfs", 0, None),
    "change the root": lambda: os.chroot(WORK),
    "make a device": lambda: os.mknod(f"{WORK}/null", 0o20666, os.makedev(1, 3)),
    "load a program into the kernel": lambda: call(321 if X86 else 280, 0, None, 0),
    "set the clock": lambda: call(227 if X86 else 112, 0, ctypes.create_string_buffer(16)),
    "use a key ring": lambda: call(250 if X86 else 219, 0, -3, 0),
    "attach shared memory of System V": lambda: call(29 if X86 else 194, 4711, 4096, 0o1600),
    "type into a terminal": lambda: call(16 if X86 else 29, 0, 0x5412, b"x"),
    "become root": lambda: os.setuid(0) if os.getuid() else os.setuid(1),
    "raise the own limits": raise_limit,
    "fork": lambda: os.waitpid(os.fork() or os._exit(0), 0),
    "run a program": lambda: subprocess.run(["/bin/true"], check=True),
    "run a program out of memory": exec_memory,
    "run a shell pipeline": lambda: subprocess.run("echo a | cat > /dev/null", shell=True, check=True),
    "use a thread": thread,
    "use asyncio": loop,
    "import the standard library": imports,
    "map memory": lambda: mmap.mmap(-1, 4096).close(),
    "write to /dev/null": lambda: write(os.devnull),
    "read random numbers": lambda: read("/proc/self/status") or os.urandom(8),
}


def attempt(action: object) -> str:
    try:
        action()  # type: ignore[operator]
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, repr(error))
    except Exception as error:
        return repr(error)
    return "done"


def main() -> None:
    if SPEC["uid"] != os.getuid():
        os.setgroups([])
        os.setgid(SPEC["uid"])
        os.setuid(SPEC["uid"])
    grant = msgspec.convert(SPEC["grant"], Grant)
    enforced = confine(Limits(grant=grant, work=WORK, landlock=SPEC["landlock"], memory=1 << 30))
    print(json.dumps({"enforced": msgspec.to_builtins(enforced), **{name: attempt(act) for name, act in ATTEMPTS.items()}}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    assert concurrent.futures.thread and encodings.idna  # loaded before the user changes, who may not reach them
    main()
