"""A grant, put in force by a worker on itself before it reads the plugin; and what of it really holds.

Above: `zygote` and `spawn` call `confine` in the new process, `etui doctor` calls `probe`. Below: `landlock`, `seccomp`,
`limits`. It refuses to know: who granted it and why. Never best effort in silence: each step that fails shows in `Enforced`.

A worker reads Python, its libraries, Etui, its plugin, the working folder, certificates, time zones and locales, and what was
granted. Landlock guards opening: whether a path exists and how big it is can still be asked.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import msgspec

from etui.run import landlock, limits, seccomp
from etui.run.enforced import Enforced
from etui.tool import Grant

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")
_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
    *("/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo", "/usr/share/locale", "/usr/share/i18n", "/etc/locale.alias"),
    *("/etc/mime.types", "/usr/share/mime", "/usr/share/fonts", "/etc/fonts"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/proc/version"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/proc/vmstat", "/proc/swaps"),
    *("/proc/diskstats", "/proc/partitions", "/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease", "/etc/hostname"),
)
_SENSORS = ("/sys/class/thermal", "/sys/class/power_supply", "/sys/class/hwmon", "/sys/class/net")
"""Folders of links to what the machine can say of its temperatures, batteries and network cards."""
_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/protocols", "/run/systemd/resolve"),
)
_PROGRAMS = (
    *("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/libexec", "/usr/games"),
    *("/usr/share/terminfo", "/etc/terminfo", "/etc/alternatives", "/usr/share/misc", "/usr/share/perl", "/usr/share/perl5"),
    *("/etc/gitconfig", "/etc/magic", "/etc/manpath.config", "/usr/share/git-core"),
)
_PYTHON = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `confine` needs to know."""

    grant: Grant = Grant()
    plugin: tuple[str, ...] = ()
    """The plugin's own files and folders: read, never written."""
    work: str = ""
    """The working folder: read; written only if the grant says so."""
    memory: int = 512 << 20
    """Bytes."""
    landlock: int | None = None
    """Pretend to an older version of Landlock; None takes what there is."""


def _python() -> Iterator[str]:
    """Where the interpreter and its libraries are, the tools' environment included."""
    paths = sysconfig.get_paths()
    yield from (paths[name] for name in _PYTHON)
    yield from (entry for entry in sys.path if entry)
    yield from (sys.executable, os.path.realpath(sys.executable))
    yield from (f"{sys.prefix}/pyvenv.cfg", f"{sys.base_prefix}/lib", f"{sys.base_prefix}/pyvenv.cfg")
    yield str(Path(__file__).parents[1])


def _sensors() -> Iterator[str]:
    """The folders, and where their links lead."""
    for folder in _SENSORS:
        yield folder
        with contextlib.suppress(OSError):
            yield from (os.path.realpath(entry) for entry in os.scandir(folder))


def rules(limits_: Limits) -> list[tuple[str, int]]:
    """Which paths may be touched, and how."""
    grant = limits_.grant
    run = landlock.EXECUTE if grant.subprocess else 0
    readable = [*_python(), *_SYSTEM, *_sensors(), *limits_.plugin, *grant.read]
    readable += [limits_.work] if limits_.work else []
    readable += _NETWORK if grant.network else ()
    readable += _PROGRAMS if grant.subprocess else ()
    found = [(path, landlock.READ | run) for path in readable]
    found += [(path, landlock.READ | landlock.WRITE | run) for path in grant.write]
    return found + [(path, landlock.DEVICE) for path in _DEVICES]


def _names_a_socket(grant: Grant) -> bool:
    for path in grant.write:
        with contextlib.suppress(OSError):
            if Path(path).is_socket() and (path not in grant.opened or os.path.realpath(path) == path):
                return True
    return False


def _guard_files(wanted: Limits, abi: int) -> bool:
    if not abi:
        return False
    try:
        landlock.restrict(rules(wanted), real=wanted.grant.opened, tcp=wanted.grant.network, abi=abi)
    except OSError:
        return False
    return True


def _guard_calls(wanted: Limits, abi: int) -> bool:
    grant = wanted.grant
    if not seccomp.available():
        return False
    program = seccomp.program(
        write=bool(grant.write),
        network=grant.network,
        subprocess=grant.subprocess,
        unix=_names_a_socket(grant),
        landlock=abi,
    )
    try:
        seccomp.apply(program)
    except OSError:
        return False
    return True


def confine(wanted: Limits) -> Enforced:
    """Hold this process to the grant for the rest of its life, and say what of it holds. Raises nothing."""
    offered = landlock.version()
    abi = offered if wanted.landlock is None else min(offered, wanted.landlock)
    memory = limits.hold(wanted.memory, subprocess=wanted.grant.subprocess)
    if not sys.platform.startswith("linux"):
        return Enforced()
    with contextlib.suppress(OSError):  # an ordinary user has none to drop; where it fails, Landlock and seccomp still hold
        limits.drop_capabilities()
    try:
        limits.no_new_privileges()
    except OSError:
        return Enforced(memory="rlimit" if memory else "none", landlock=offered)
    files = _guard_files(wanted, abi)
    calls = _guard_calls(wanted, abi if files else 0)
    return _report(wanted, abi, files, calls, memory)


def _report(wanted: Limits, abi: int, files: bool, calls: bool, memory: bool) -> Enforced:
    writes_nothing = not wanted.grant.write
    return Enforced(
        files="kernel" if calls and (files or writes_nothing) else "none",
        reads="kernel" if files else "none",
        network="kernel" if calls else "none",
        subprocess="kernel" if calls else "none",
        memory="rlimit" if memory else "none",
        landlock=abi if files else 0,
    )


def probe() -> Enforced:
    """What a worker with an empty grant would get on this machine; nothing is put in force."""
    abi = landlock.version()
    memory = sys.platform.startswith("linux")
    return _report(Limits(), abi, bool(abi), seccomp.available(), memory)
