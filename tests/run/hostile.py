"""Tools that misbehave, each in its own way; `(arguments, line)`."""

import ctypes
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import msgspec

KEEP = []


async def ok(arguments, line):
    return arguments.get("x")


def _wire():
    for name in os.listdir("/proc/self/fd"):
        try:
            end = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        try:
            end.getpeername()
            if end.type == socket.SOCK_STREAM and int(name) > 2 and end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12):
                pid = struct.unpack("iII", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
                if pid != os.getpid():
                    return end
        except OSError:
            continue
    raise RuntimeError("no wire found")


def _send(data):
    end = _wire()
    end.setblocking(True)
    end.sendall(data)


def _message(*parts):
    data = msgspec.msgpack.encode(list(parts))
    return struct.pack(">I", len(data)) + data


def segfault(arguments, line):
    ctypes.string_at(0)


def loop(arguments, line):
    while True:
        pass


async def loop_on_loop(arguments, line):
    while True:
        pass


def long_sum(arguments, line):
    return sum(range(10**13))


def regex_bomb(arguments, line):
    return bool(re.match(r"(a+)+$", "a" * 40 + "b"))


def ignores_sigterm(arguments, line):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    time.sleep(60)


def stops_itself(arguments, line):
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)


def two_gigabytes(arguments, line):
    KEEP.append(bytearray(2 << 30))


def slowly_more(arguments, line):
    while True:
        KEEP.append(bytearray(8 << 20))


def shared_memory(arguments, line):
    import mmap

    while True:
        block = mmap.mmap(-1, 32 << 20)
        for offset in range(0, 32 << 20, 4096):
            block[offset] = 1
        KEEP.append(block)


def fork_bomb(arguments, line):
    count = 0
    while count < 200:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
    return count


def busy_fork_bomb(arguments, line):
    """Descendants that go on forking, each in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            time.sleep(0.001)
        os._exit(0)
    time.sleep(60)


def daemon(arguments, line):
    """Comes back once the daemon runs its program: until then it holds the pipe."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", arguments["mark"]])
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    return "left behind"


def shell_tree(arguments, line):
    mark = arguments["mark"]
    return subprocess.run(["bash", "-c", f"sleep {mark} & sleep {mark}"], capture_output=True)


def thread_bomb(arguments, line):
    count = 0
    try:
        while count < 1000:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    return count


def some_threads(arguments, line):
    threads = [threading.Thread(target=time.sleep, args=(0.2,)) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(threads)


def floods_stdout(arguments, line):
    for _ in range(2000):
        os.write(1, b'\x00\xff garbage {"id":1,"ok":1}\n' * 200)
    os.write(2, b"the very end\n")
    return "printed"


def garbage_on_the_wire(arguments, line):
    _send(b"\x00\x00\x00\x05hello" * 3)
    time.sleep(60)


def four_gigabyte_length(arguments, line):
    _send(b"\xff\xff\xff\xff")
    time.sleep(60)


def deep_message(arguments, line):
    _send(struct.pack(">I", 100000) + b"\x91" * 100000)
    time.sleep(60)


def answers_another_call(arguments, line):
    _send(_message("done", 999999, "ok"))
    time.sleep(60)


def answers_with_no_json(arguments, line):
    _send(_message("done", 1, "ok", b"NaN", "spoofed"))
    time.sleep(60)


def answers_with_deep_json(arguments, line):
    _send(_message("done", 1, "ok", b"[" * 3000 + b"]" * 3000))
    time.sleep(60)


def answers_with_a_status_of_the_hosts(arguments, line):
    _send(_message("done", 1, "needs_approval"))
    time.sleep(60)


def introduces_itself_again(arguments, line):
    _send(_message("ready", os.getpid(), {}))
    time.sleep(60)


def describes_itself_again(arguments, line):
    _send(_message("described", {}))
    time.sleep(60)


def asks_for_nothing_sensible(arguments, line):
    _send(_message("request", 1, 1, "state.get", b"[1]"))
    time.sleep(60)


def closes_the_wire(arguments, line):
    _wire().shutdown(socket.SHUT_RDWR)
    time.sleep(60)


def closes_everything(arguments, line):
    os.closerange(3, 256)
    time.sleep(60)


def leaves(arguments, line):
    os._exit(3)


async def leaves_from_a_task(arguments, line):
    import asyncio

    async def bad():
        sys.exit(4)

    asyncio.get_running_loop().create_task(bad())
    await asyncio.sleep(0.05)
    return "still here"


def closes_stdout(arguments, line):
    sys.stdout.close()
    os.close(1)
    return "quiet"


def breaks_python(arguments, line):
    os.write = None
    sys.modules["json"] = None
    return "patched"


def opens_files(arguments, line):
    kept = []
    try:
        while True:
            kept.append(open("/dev/null"))  # noqa: SIM115 - to be held, not closed
    except OSError as error:
        return error.errno


def endless_file(arguments, line):
    with open(os.path.join(arguments["work"], "endless"), "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))


def recursion(arguments, line):
    return recursion(arguments, line)


def floods_with_lines(arguments, line):
    for number in range(20000):
        line.say(str(number))
    return "said"


def floods_with_requests(arguments, line):
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(300) as pool:
        asked = [pool.submit(line.ask_sync, "state.get", key="k") for _ in range(300)]
        return sum(1 for one in asked if one.exception() is not None)
