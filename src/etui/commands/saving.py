"""For which programs a yes may stand for every later line, and which lines it then does not cover. Below: `words`."""

from __future__ import annotations

import re

from etui.commands.words import named, program, words

INTERPRETERS = named(
    "sh bash zsh dash ksh fish ash csh tcsh xonsh pwsh nu elvish busybox toybox python ipython pypy perl ruby node nodejs "
    "deno bun php lua luajit tclsh wish expect rscript r julia osascript awk gawk mawk nawk sed java jshell ghci groovy "
    "scala sqlite psql mysql gdb m4"
)
WRAPPERS = named(
    "sudo doas su pkexec runuser env xargs parallel nohup time timeout ssh docker podman setsid setpriv stdbuf unbuffer "
    "nice ionice chrt taskset chroot unshare nsenter bwrap firejail proot fakeroot strace ltrace valgrind rlwrap exec "
    "eval command builtin coproc trap alias source script watch flock busybox toybox tmux screen at batch crontab systemd "
    "systemd-run start-stop-daemon npx bunx uvx uv pipx tsx ld"
)
_READING_ALOUD = named(
    "less more most pg bat w3m lynx links elinks vi vim view vimdiff rvim rview nvim nano pico joe micro kak hx emacs "
    "emacsclient ed ex man open xdg"
)
_TRANSFER = named(
    "curl wget aria scp sftp rsync ftp tftp lftp ncftp nc ncat netcat socat telnet rclone http https xh mail mailx "
    "sendmail mutt yt"
)
UNSAVEABLE = INTERPRETERS | WRAPPERS | _READING_ALOUD | _TRANSFER
"""Programs whose name does not say what runs, or what leaves the machine: a yes to one line is no yes to the next."""
_NAME = re.compile(r"[A-Za-z0-9_./+-]+")
_STEM = re.compile(r"[a-z]+")
_RUNNING = {
    "git": named(
        "-c --exec-path --config-env --exec --ext-diff --open-files-in-pager --upload-pack --receive-pack -O -u -x config "
        "bisect submodule filter-branch difftool mergetool send-email instaweb hook credential"
    ),
    "tar": named(
        "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command"
    ),
    "zip": named("-TT --unzip-command"),
    "make": named("-f --file --makefile --eval -C --directory"),
    "npm": named("exec x explore config --script-shell"),
}
"""Words by which a program that may be saved runs another, that the line brings along."""


def can_be_saved(family: str) -> bool:
    """Whether a yes to this program may stand for every later line of it."""
    name = program(family)
    stem = _STEM.match(name)
    return bool(name and _NAME.fullmatch(family) and not {name, stem[0] if stem else name} & UNSAVEABLE)


def runs_another(command: str) -> bool:
    """Whether the line makes its program run another one, so that a yes to the program does not cover it."""
    line = words(command)
    running = _RUNNING.get(program(line[0])) if line else None
    if running is None:
        return False
    first = [f"-{line[1]}"] if program(line[0]) == "tar" and len(line) > 1 and line[1][0:1] not in ("", "-") else []
    return any(_is_one(word, running) or "ext::" in word for word in [*first, *line[1:]])


def _is_one(word: str, running: frozenset[str]) -> bool:
    """Whether it is one of these words, shortened, with its value, or among others in one cluster."""
    start = word.split("=", 1)[0]
    if start.startswith("--"):
        return len(start) > 3 and any(one.startswith(start) for one in running)
    return start in running or (word.startswith("-") and any(f"-{letter}" in running for letter in start[1:]))
