"""The numbers of the system calls that a worker may make, by family, for the two machines that Etui confines on.

Above: `seccomp` makes a filter of them. Below: nothing. It refuses to know: which grant lets which family through. A call
that is in no family is refused, so that what a newer kernel brings is refused too.
"""

from __future__ import annotations

import platform

# Each entry is a name, its number on x86_64 and its number on aarch64; a dash where the machine has no such call.

# Opening, reading, writing and walking files; which of them is for Landlock to say.
_FILES = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, pwritev 296 70,
preadv2 327 286, pwritev2 328 287, open 2 -, openat 257 56, openat2 437 437, creat 85 -, close 3 57, close_range 436 436,
lseek 8 62, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, access 21 -, faccessat 269 48,
faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49,
fchdir 81 50, dup 32 23, dup2 33 -, dup3 292 24, fcntl 72 25, flock 73 32, fsync 74 82, fdatasync 75 83,
sync_file_range 277 84, syncfs 306 267, sync 162 81, ftruncate 77 46, truncate 76 45, fallocate 285 47, fadvise64 221 223,
readahead 187 213, copy_file_range 326 285, sendfile 40 71, splice 275 76, tee 276 77, vmsplice 278 75, umask 95 166,
statfs 137 43, fstatfs 138 44, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, mknod 133 -, mknodat 259 33,
inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, inotify_rm_watch 255 28, getxattr 191 8, lgetxattr 192 9,
fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13, ioctl 16 29
"""

# The process's own memory.
_MEMORY = """
mmap 9 222, mprotect 10 226, munmap 11 215, mremap 25 216, brk 12 214, madvise 28 233, mincore 27 232, msync 26 227,
mlock 149 228, mlock2 325 284, munlock 150 229, mlockall 151 230, munlockall 152 231, membarrier 324 283, pkey_alloc 330 289,
pkey_free 331 290, pkey_mprotect 329 288, memfd_create 319 279, set_mempolicy 238 237, get_mempolicy 239 236, mbind 237 235,
remap_file_pages 216 234
"""

# Threads, and the start of a process, whose flags are looked at.
_THREADS = """
clone 56 220, futex 202 98, futex_waitv 449 449, set_robust_list 273 99, get_robust_list 274 100, set_tid_address 218 96,
gettid 186 178, rseq 334 293, sched_yield 24 124, sched_getaffinity 204 123, sched_setaffinity 203 122, sched_getparam 143 121,
sched_getscheduler 145 120, sched_get_priority_max 146 125, sched_get_priority_min 147 126, sched_rr_get_interval 148 127,
sched_getattr 315 275, getcpu 309 168, arch_prctl 158 -, exit 60 93, exit_group 231 94, prctl 157 167, restart_syscall 219 128
"""

# Signals; whom they may reach is looked at.
_SIGNALS = """
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137,
rt_sigsuspend 130 133, sigaltstack 131 132, pause 34 -, kill 62 129, tkill 200 130, tgkill 234 131, signalfd 282 -,
signalfd4 289 74, pidfd_open 434 434
"""

# Clocks and timers.
_TIME = """
nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169, time 201 -,
times 100 153, getitimer 36 102, setitimer 38 103, alarm 37 -, timer_create 222 107, timer_settime 223 110,
timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111, timerfd_create 283 85, timerfd_settime 286 86,
timerfd_gettime 287 87
"""

# Waiting for descriptors and children.
_WAITING = """
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21,
epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2 290 19, pipe 22 -, pipe2 293 59,
wait4 61 260, waitid 247 95
"""

# Talking over sockets that are open already; asyncio needs a pair of them.
_TALK = """
socketpair 53 199, sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243,
shutdown 48 210, getsockname 51 204, getpeername 52 205, getsockopt 55 209, setsockopt 54 208
"""

# Questions about itself, and limits and identities that can only shrink.
_SELF = """
getpid 39 172, getppid 110 173, getpgid 121 155, getpgrp 111 -, getsid 124 156, getuid 102 174, geteuid 107 175,
getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150, getgroups 115 158, getrlimit 97 163, setrlimit 160 164,
prlimit64 302 261, getrusage 98 165, getpriority 140 141, setpriority 141 140, ioprio_get 252 31, sysinfo 99 179, uname 63 160,
capget 125 90, capset 126 91, getrandom 318 278, setpgid 109 154, setsid 112 157, setuid 105 146, setgid 106 144,
setreuid 113 145, setregid 114 143, setresuid 117 147, setresgid 119 149, setgroups 116 159, setfsuid 122 151,
setfsgid 123 152, seccomp 317 277, landlock_create_ruleset 444 444, landlock_add_rule 445 445, landlock_restrict_self 446 446
"""

# New sockets: only with the network granted.
_NETWORK = """
socket 41 198, bind 49 200, connect 42 203, listen 50 201, accept 43 202, accept4 288 242
"""

# Other programs: only with subprocesses granted.
_PROGRAMS = """
execve 59 221, execveat 322 281, fork 57 -, vfork 58 -, pidfd_send_signal 424 424
"""

# Modes and times of files, by path or descriptor: seccomp cannot see which file is meant.
_MODES = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88
"""

# Extended attributes, likewise.
_ATTRIBUTES = """
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
setxattrat 463 463, removexattrat 466 466, file_setattr 469 469
"""

# Owners of files, likewise.
_OWNERS = """
chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54
"""

_COLUMN = {"x86_64": 1, "aarch64": 2}.get(platform.machine(), 0)

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(platform.machine(), 0)
"""What the kernel calls this machine's own system call convention; 0 where Etui has no numbers and cannot filter."""


def numbers(family: str, column: int = _COLUMN) -> dict[str, int]:
    """The calls of a family that exist on this machine, by name; empty on a machine without numbers."""
    rows = (row.split() for row in family.split(","))
    return {row[0]: int(row[column]) for row in rows if column and row[column] != "-"}


FILES = numbers(_FILES)
MEMORY = numbers(_MEMORY)
THREADS = numbers(_THREADS)
SIGNALS = numbers(_SIGNALS)
TIME = numbers(_TIME)
WAITING = numbers(_WAITING)
TALK = numbers(_TALK)
SELF = numbers(_SELF)
NETWORK = numbers(_NETWORK)
PROGRAMS = numbers(_PROGRAMS)
MODES = numbers(_MODES)
ATTRIBUTES = numbers(_ATTRIBUTES)
OWNERS = numbers(_OWNERS)

CLONE3 = 435
"""The same everywhere."""
NEWEST = 470
"""Numbers from here on are newer than this table: they do not exist, as far as a worker can tell."""
