"""The filter of system calls: an allow-list, with a rule of its own for each call whose arguments matter.

Above: `confine` says what is granted. Below: `syscalls`, `kernel`. It refuses to know: paths, for the kernel does not show them
to a filter. What it answers instead of doing:

- modes and times of files: a worker that may write gets "done" and nothing is changed, so that `shutil.copy` works and no
  file outside of the folder can be touched; one that only reads gets EPERM. Extended attributes: ENOTSUP, which copying takes.
- clone3: ENOSYS, so that libc falls back to clone, whose flags can be read. Foreign system call conventions: death.
- sockets: with the network only IP and the routing questions of name lookup; UNIX sockets only where a grant names one, for
  behind them sit programs that would do what the worker may not. A socketpair must be a stream: a datagram one could be sent
  anywhere.
- a call that asks something of another process (limits, priority, signals) may only name the caller itself.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct

from etui.run import kernel, syscalls

_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER, _MACHINE = 0, 4
_SET_MODE_FILTER = 1
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
_THREAD = 0x00010000  # CLONE_THREAD
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing on behalf of the person
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_BY_PATH = (
    *("creat", "truncate", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2"),
    *("link", "linkat", "symlink", "symlinkat", "mknod", "mknodat", "openat2"),
)

Step = tuple[int, int, int, int]


def _refuse(error: int) -> int:
    return 0x50000 | error


def _argument(index: int) -> Step:
    return (_LOAD, 0, 0, 16 + 8 * index)


def _end(answer: int) -> Step:
    return (_RETURN, 0, 0, answer)


def _on(number: int | None, body: list[Step]) -> list[Step]:
    """The body, for this call only; every way through it must end."""
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]


def _answer(numbers: dict[str, int], answer: int) -> list[Step]:
    return [step for number in numbers.values() for step in _on(number, [_end(answer)])]


def _one_of(index: int, values: tuple[int, ...], mask: int = 0) -> list[Step]:
    """Allowed if the argument, masked, is one of these; else EACCES."""
    body = [_argument(index)]
    if mask:
        body.append((_AND, 0, 0, mask))
    for value in values:
        body += [(_EQUAL, 0, 1, value), _end(_ALLOW)]
    return [*body, _end(_refuse(errno.EACCES))]


def _myself(index: int) -> list[Step]:
    """Allowed if the argument is 0 or this very process; else EPERM."""
    steps = [_argument(index), (_EQUAL, 0, 1, 0), _end(_ALLOW), (_EQUAL, 0, 1, os.getpid()), _end(_ALLOW)]
    return [*steps, _end(_refuse(errno.EPERM))]


def _machine() -> list[Step]:
    steps = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, syscalls.AUDIT), _end(_KILL), (_LOAD, 0, 0, _NUMBER)]
    if syscalls.AUDIT == 0xC000003E:
        steps += [(_AT_LEAST, 0, 1, _X32), _end(_KILL)]
    return steps


def _clone(subprocess: bool) -> list[Step]:
    no = _end(_refuse(errno.EPERM))
    body = [_argument(0), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), no]
    if not subprocess:
        body += [(_ANY_BIT, 1, 0, _THREAD), no]
    steps = _on(syscalls.CLONE3, [_end(_refuse(errno.ENOSYS))])
    return steps + _on(syscalls.THREADS.get("clone"), [*body, _end(_ALLOW)])


def _sockets(network: bool, unix: bool) -> list[Step]:
    streams = _one_of(1, (socket.SOCK_STREAM, socket.SOCK_SEQPACKET), mask=0xF)
    steps = _on(syscalls.TALK.get("socketpair"), streams)
    families = [socket.AF_UNIX] if unix else []
    if network:
        families += [socket.AF_INET, socket.AF_INET6]
        # Name lookup asks the kernel for the machine's addresses (netlink protocol 0); no other netlink is opened.
        families_body = [
            _argument(0),
            (_EQUAL, 0, 4, 16),
            _argument(2),
            (_EQUAL, 0, 1, 0),
            _end(_ALLOW),
            _end(_refuse(errno.EACCES)),
        ]
        return steps + _on(syscalls.NETWORK.get("socket"), families_body + _one_of(0, tuple(map(int, families))))
    if unix:
        return steps + _on(syscalls.NETWORK.get("socket"), _one_of(0, (int(socket.AF_UNIX),)))
    return steps + _answer(syscalls.NETWORK, _refuse(errno.EACCES))


def _others(subprocess: bool) -> list[Step]:
    """Calls that could reach another process."""
    steps = _on(syscalls.SELF.get("prlimit64"), _myself(0)) + _on(syscalls.THREADS.get("sched_setaffinity"), _myself(0))
    by_number = [_argument(0), (_EQUAL, 1, 0, 0), _end(_refuse(errno.EPERM)), *_myself(1)]
    steps += _on(syscalls.SELF.get("setpriority"), by_number)
    if subprocess:
        everybody = [_argument(0), (_EQUAL, 0, 1, 0xFFFFFFFF), _end(_refuse(errno.EPERM)), _end(_ALLOW)]
        steps += _on(syscalls.SIGNALS.get("kill"), everybody)
    else:
        for name in ("kill", "tgkill"):
            steps += _on(syscalls.SIGNALS.get(name), _myself(0))
        steps += _answer({"tkill": syscalls.SIGNALS["tkill"]}, _refuse(errno.ENOSYS))
    return steps


def _ioctl() -> list[Step]:
    body = [_argument(1)]
    for request in _TERMINAL_INPUT:
        body += [(_EQUAL, 0, 1, request), _end(_refuse(errno.EPERM))]
    return _on(syscalls.FILES.get("ioctl"), [*body, _end(_ALLOW)])


def _no_writing() -> list[Step]:
    """Where Landlock is missing: a worker that may write nowhere opens nothing for writing."""
    steps: list[Step] = []
    for name, index in (("open", 1), ("openat", 2)):
        body = [_argument(index), (_ANY_BIT, 0, 1, _WRITING), _end(_refuse(errno.EACCES)), _end(_ALLOW)]
        steps += _on(syscalls.FILES.get(name), body)
    changing = {name: syscalls.FILES[name] for name in _BY_PATH if name in syscalls.FILES}
    return steps + _answer(changing, _refuse(errno.EACCES))


def _allowed(numbers: set[int]) -> list[Step]:
    """The allow-list as ranges, in order."""
    steps: list[Step] = []
    ordered = sorted(numbers)
    while ordered:
        length = next((i for i, number in enumerate(ordered) if number != ordered[0] + i), len(ordered))
        steps += [(_AT_LEAST, 0, 2, ordered[0]), (_GREATER, 1, 0, ordered[length - 1]), _end(_ALLOW)]
        ordered = ordered[length:]
    return steps


def program(*, write: bool, network: bool, subprocess: bool, unix: bool = False, landlock: int = 0) -> bytes:
    """The filter for such a grant, as the kernel reads it; `landlock` is the version that guards the files, 0 for none."""
    steps = _machine() + _clone(subprocess) + _sockets(network, unix) + _others(subprocess) + _ioctl()
    steps += _answer(syscalls.MODES, _refuse(0 if write else errno.EPERM))
    steps += _answer(syscalls.ATTRIBUTES, _refuse(errno.ENOTSUP if write else errno.EPERM))
    steps += _answer(syscalls.OWNERS, _refuse(errno.EPERM))
    if not landlock and not write:
        steps += _no_writing()
    elif landlock < 3:
        steps += _on(syscalls.FILES.get("truncate"), [_end(_refuse(errno.EPERM))])
    families = [syscalls.FILES, syscalls.MEMORY, syscalls.THREADS, syscalls.SIGNALS, syscalls.TIME, syscalls.WAITING]
    families += [syscalls.TALK, syscalls.SELF]
    families += [syscalls.NETWORK] if network or unix else []
    families += [syscalls.PROGRAMS] if subprocess else []
    steps += _allowed({number for family in families for number in family.values()})
    steps += [(_AT_LEAST, 0, 1, syscalls.NEWEST), _end(_refuse(errno.ENOSYS)), _end(_refuse(errno.EPERM))]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def apply(filter_program: bytes) -> None:
    """Put the filter in force for this thread and its descendants, for good; needs no_new_privs. Raises OSError."""
    code = kernel.read_only(filter_program)
    header = struct.pack("HxxxxxxP", len(filter_program) // 8, ctypes.addressof(code))
    kernel.syscall(syscalls.SELF["seccomp"], _SET_MODE_FILTER, 0, kernel.read_only(header))


def available() -> bool:
    """Whether this machine has numbers and a kernel that filters; nothing is put in force."""
    if not syscalls.AUDIT or not os.path.exists("/proc/sys/kernel/seccomp"):  # noqa: PTH110
        return False
    try:
        kernel.syscall(syscalls.SELF["seccomp"], 2, 0, kernel.read_only(struct.pack("I", _KILL)))
    except OSError:
        return False
    return True
