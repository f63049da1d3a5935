"""Files in the working folder: list, find, read, write, change, delete.

Above: whoever speaks to the assistant. Below: `ctx.files`, which no name leads out of. An ordinary tool file. It refuses to
know: every other file of the machine.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

from etui import Context, Result, ToolError, tool

MOST_READ = 2_000_000
"""Characters of a file that is searched or changed."""
SHOWN = 60_000
"""Characters of a file that one reading gives."""
MOST_NAMES = 200
UNDO = 50_000
"""Characters of a file that can be brought back."""

Path = Annotated[str, "Name of a file in the working folder, such as recipes/bread.md."]


@tool(
    examples=[
        "list my files",
        "what files are there",
        "show the files in {folder}",
        "list the files in the {folder} folder",
        "which files do I have",
        "show me the working folder",
        "what's in the {folder} folder",
        "what's in my folder",
        "show me everything in the {folder} folder",
    ],
)
def files_list(
    ctx: Context,
    folder: Annotated[str, "A folder inside the working folder; empty for all of it."] = "",
) -> Result:
    """List the files in the working folder or in a folder of it."""
    base = _folder(folder)
    try:
        names = [name for name in ctx.files.list(f"{base}/**" if base else "**") if not name.endswith("/")]
    except NotADirectoryError:
        names = []
    if not names:
        if base and not ctx.files.exists(base):
            raise ToolError(f"There is no folder {base!r}.")
        return Result(f"The {f'folder {base}' if base else 'working folder'} is empty.", data={"files": []})
    where = f" in {base}" if base else ""
    count = "one file" if len(names) == 1 else f"{len(names):,} files"
    shown = names[:MOST_NAMES]
    more = f", and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return Result(
        f"There {'is' if len(names) == 1 else 'are'} {count}{where}: {', '.join(shown)}{more}.", data={"files": shown}
    )


@tool(
    timeout=60,
    examples=[
        "search my files for {query}",
        "find the file that mentions {query}",
        "which file contains {query}",
        "look in my files for {query}",
        "find {query} in my files",
        "find the file called {query}",
        "search files for {query}",
        "which of my files mentions {query}",
    ],
)
def files_search(
    ctx: Context,
    query: Annotated[str, "Text to find, in names and in contents; case does not matter."],
    pattern: Annotated[str, "Only files whose name fits, such as *.md or notes/**."] = "**",
    limit: Annotated[int, "How many lines at most."] = 20,
) -> Result:
    """Search the working folder's files by name and by text, and give the lines that hold it."""
    wanted = query.strip().casefold()
    if not wanted:
        raise ToolError("What should I look for?")
    hits: list[dict[str, object]] = []
    most = max(1, min(limit, 200))
    for name in ctx.files.list(pattern if "/" in pattern or pattern == "**" else f"**/{pattern}"):
        if name.endswith("/") or len(hits) >= most:
            continue
        if wanted in name.casefold():
            hits.append({"file": name, "line": 0, "text": ""})
        text = _text_or_none(ctx, name)
        for number, line in enumerate(text.splitlines() if text and wanted in text.casefold() else (), 1):
            if wanted in line.casefold() and len(hits) < most:
                hits.append({"file": name, "line": number, "text": line.strip()[:200]})
    if not hits:
        return Result(f"No file holds {query.strip()[:60]!r}.", data={"hits": []})
    files = list(dict.fromkeys(str(hit["file"]) for hit in hits))
    lines = [
        f"{hit['file']}, line {hit['line']}: {hit['text']}" if hit["line"] else f"{hit['file']} (by its name)" for hit in hits
    ]
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    return Result(f"Found in {count}:\n" + "\n".join(lines), data={"hits": hits})


@tool(
    examples=[
        "read the file {file}",
        "open the file {file}",
        "show me what is in {file}",
        "what does the file {file} say",
        "read the file {file} to me",
        "show me the file {file}",
        "what's in the file {file}",
        "let me see what's in {file}",
    ],
)
def file_read(
    ctx: Context,
    file: Path,
    start: Annotated[int, "First line, counted from 1."] = 1,
    lines: Annotated[int, "How many lines; 0 for all."] = 0,
) -> Result:
    """Read a text file of the working folder, whole or some lines of it."""
    name = _named(ctx, file)
    every = _text(ctx, name).splitlines(keepends=True)
    first = max(1, start) - 1
    if first >= len(every) > 0:
        raise ToolError(f"{name!r} has only {len(every):,} lines.")
    chosen = every[first : first + lines if lines > 0 else None]
    text = "".join(chosen)
    data = {"file": name, "lines": len(every), "start": first + 1}
    if not text.strip():
        return Result(f"{name} {'holds only blank lines' if text else 'is empty'}.", data=data)
    if len(text) > SHOWN:
        given = text[:SHOWN].count("\n") + first
        return Result(f"{text[:SHOWN]}\n… cut here, in line {given + 1:,} of {len(every):,}: read on from there.", data=data)
    return Result(text, data=data)


@tool(
    risk="write",
    examples=[
        "write {text} to the file {file}",
        "save {text} in {file}",
        "create a file {file} with {text}",
        "make a file called {file} that says {text}",
        "write a file {file} saying {text}",
        "put {text} into the file {file}",
        "append {text} to {file}",
    ],
)
def file_write(
    ctx: Context,
    file: Path,
    text: Annotated[str, "The whole new content, or what to append."],
    append: Annotated[bool, "Put it at the end of the file instead of replacing the file."] = False,
) -> Result:
    """Write a text file in the working folder: make it, replace it, or append to it."""
    name = _name(file)
    old = _text(ctx, name) if ctx.files.exists(name) else None
    gap = "\n" if append and old and not old.endswith("\n") else ""
    _save(ctx, name, f"{old or ''}{gap}{text}" if append else text)
    verb = "Added to" if append and old is not None else "Wrote" if old is None else "Replaced"
    size = len(text.splitlines())
    return Result(f"{verb} {name}, {size:,} {'line' if size == 1 else 'lines'}.", data={"file": name, **_undo(name, old)})


@tool(
    risk="write",
    examples=[
        "replace {old} with {new} in {file}",
        "change {old} to {new} in {file}",
        "in {file} replace {old} with {new}",
        "substitute {new} for {old} in {file}",
        "edit {file} and change {old} to {new}",
        "fix {old} to {new} in {file}",
    ],
)
def file_patch(
    ctx: Context,
    file: Path,
    old: Annotated[str, "The exact text to replace; it must stand in the file exactly once."] = "",
    new: Annotated[str, "What to put in its place."] = "",
    diff: Annotated[str, "Instead of `old` and `new`: a unified diff for this file."] = "",
) -> Result:
    """Change part of a text file in the working folder: one exact text by another, or by a unified diff."""
    name = _named(ctx, file)
    before = _text(ctx, name)
    if bool(old) == bool(diff):
        raise ToolError("Give either the text to replace, or a unified diff.")
    after = _replaced(before, old, new, name) if old else _patched(before, diff, name)
    if after == before:
        return Result(f"{name} stays as it is: the change changes nothing.", data={"file": name})
    _save(ctx, name, after)
    return Result(f"Changed {name}.", data={"file": name, **_undo(name, before)})


@tool(
    risk="write",
    examples=[
        "delete the file {file}",
        "delete {file}",
        "remove the file {file}",
        "erase {file}",
        "throw away the file {file}",
        "get rid of the file {file}",
        "throw {file} away",
        "I don't need {file} any more, delete it",
    ],
)
def file_delete(ctx: Context, file: Path) -> Result:
    """Delete a file, or an empty folder, of the working folder."""
    name = _named(ctx, file)
    old = _text_or_none(ctx, name)
    try:
        ctx.files.delete(name)
    except OSError as error:
        raise ToolError(f"{name!r} can't be deleted: {(error.strerror or 'it is in use').lower()}.") from None
    return Result(f"Deleted {name}.", data={"file": name, **(_undo(name, old) if old is not None else {})})


def _undo(name: str, old: str | None) -> dict[str, object]:
    """How a write is taken back, where the old text is small enough to keep."""
    if old is None:
        return {"undo": {"tool": "file_delete", "arguments": {"file": name}}}
    if len(old) > UNDO:
        return {}
    return {"undo": {"tool": "file_write", "arguments": {"file": name, "text": old}}}


def _name(said: str) -> str:
    name = said.strip().strip("\"'").removeprefix("./")
    if not name:
        raise ToolError("Which file?")
    return name


def _folder(said: str) -> str:
    name = re.sub(r"^(the|my)\s+|\s+(folder|directory)$", "", said.strip().strip("\"'"), flags=re.IGNORECASE)
    return "" if name in {".", "working", "/"} else name.strip("/")


def _named(ctx: Context, said: str) -> str:
    """The file that is meant: by its name, or by a part of it that only one file has. Raises ToolError naming the nearest."""
    name = _name(said)
    if ctx.files.exists(name):
        return name
    wanted = name.casefold().replace(" dot ", ".")
    names = [one for one in ctx.files.list("**") if not one.endswith("/")]
    for fits in (
        lambda one: one.casefold() == wanted,
        lambda one: PurePosixPath(one).name.casefold() == wanted,
        lambda one: PurePosixPath(one).stem.casefold() == wanted,
    ):
        if len(found := [one for one in names if fits(one)]) == 1:
            return found[0]
    near = [one for one in names if PurePosixPath(wanted).stem[:4] and PurePosixPath(wanted).stem[:4] in one.casefold()][:3]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise ToolError(f"There is no file {name[:80]!r}.{hint}")


def _text(ctx: Context, name: str) -> str:
    try:
        data = ctx.files.read_bytes(name)
    except FileNotFoundError:
        raise ToolError(f"There is no file {name!r}.") from None
    except IsADirectoryError:
        raise ToolError(f"{name!r} is a folder.") from None
    except NotADirectoryError:
        raise ToolError(f"A part of {name!r} is a file and no folder.") from None
    if len(data) > MOST_READ:
        raise ToolError(f"{name!r} is too large for me: {len(data):,} bytes.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{name!r} is no text file.") from None


def _text_or_none(ctx: Context, name: str) -> str | None:
    try:
        return _text(ctx, name)
    except ToolError:
        return None


def _save(ctx: Context, name: str, text: str) -> None:
    if len(text) > MOST_READ:
        raise ToolError(f"That's too large for a file of mine: {len(text):,} characters.")
    try:
        ctx.files.write_bytes(name, text.encode("utf-8", "replace"))
    except IsADirectoryError:
        raise ToolError(f"{name!r} is a folder.") from None
    except OSError as error:
        raise ToolError(f"{name!r} can't be written: {(error.strerror or 'the disk refuses').lower()}.") from None


def _replaced(text: str, old: str, new: str, name: str) -> str:
    times = text.count(old)
    if times == 1:
        return text.replace(old, new)
    if times:
        raise ToolError(f"That text stands {times} times in {name}: give more of what surrounds it.")
    if len(found := re.findall(re.escape(old), text, flags=re.IGNORECASE)) == 1:
        return text.replace(found[0], new)
    raise ToolError(f"That text is not in {name}.")


def _patched(text: str, diff: str, name: str) -> str:
    """The text after a unified diff; each hunk must fit at its place, or at exactly one other."""
    lines = text.splitlines(keepends=True)
    moved = 0
    hunks = _hunks(diff)
    if not hunks:
        raise ToolError("That is no unified diff: it has no line that begins with @@.")
    for number, (start, old, new) in enumerate(hunks, 1):
        at = _place(lines, old, start - 1 + moved)
        if at is None:
            raise ToolError(f"Part {number} of the diff does not fit {name}: nothing was changed.")
        ends_bare = at + len(old) >= len(lines) and lines and not lines[-1].endswith("\n") and old
        put = [f"{line}\n" for line in new]
        if ends_bare and put:
            put[-1] = put[-1][:-1]
        lines[at : at + len(old)] = put
        moved += len(new) - len(old)
    return "".join(lines)


def _hunks(diff: str) -> list[tuple[int, list[str], list[str]]]:
    """Each part as (line, old lines, new lines)."""
    hunks: list[tuple[int, list[str], list[str]]] = []
    for line in diff.splitlines():
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line):
            # A part that only adds names the line after which it goes.
            hunks.append((int(head[1]) + (head[2] == "0"), [], []))
        elif line.startswith("@@"):
            hunks.append((1, [], []))
        elif hunks and not line.startswith("\\"):
            sign, rest = line[:1], line[1:]
            if sign in {" ", "-", ""}:
                hunks[-1][1].append(rest)
            if sign in {" ", "+", ""}:
                hunks[-1][2].append(rest)
    return hunks


def _place(lines: list[str], old: list[str], wanted: int) -> int | None:
    bare = [line.rstrip("\r\n") for line in lines]
    if not old:
        return max(0, min(wanted, len(lines)))
    if bare[max(0, wanted) : max(0, wanted) + len(old)] == old:
        return max(0, wanted)
    fits = [at for at in range(len(bare) - len(old) + 1) if bare[at : at + len(old)] == old]
    return fits[0] if len(fits) == 1 else None
