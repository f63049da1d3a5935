"""Does a piece of Python only read and compute, as far as its text shows? Below: the standard library.

It is a list of signs, made to show a person what is unusual; what code may really do is the kernel's to say.
"""

from __future__ import annotations

import ast
import re

LONGEST = 200_000
"""Characters that are still read."""
_PATHS = frozenset(
    {
        *("unlink", "rmdir", "rmtree", "write_text", "write_bytes", "symlink_to", "hardlink_to", "touch", "mkdir"),
        "extractall",
    }
)
"""Methods that change files, whatever they are called on."""
_SYSTEM = frozenset({"os", "shutil"})
_CHANGING = frozenset(
    {
        *("remove", "unlink", "rmdir", "removedirs", "rmtree", "copy", "copy2", "copyfile", "copytree", "move", "rename"),
        *("renames", "replace", "chmod", "chown", "symlink", "link", "truncate", "makedirs", "mkdir", "write", "mkfifo"),
        *("make_archive", "unpack_archive"),
    }
)
_STARTING = ("system", "popen", "posix_spawn", "fork", "startfile", "exec", "spawn", "kill")
_MODULES = {
    "subprocess": "it starts programs",
    "pty": "it starts programs",
    "multiprocessing": "it starts programs",
    "posix": "it changes files or starts programs",
    "nt": "it changes files or starts programs",
    "builtins": "it gives the system another name",
    "runpy": "it runs code by name",
    "code": "it runs code that it makes itself",
    "timeit": "it runs code that it makes itself",
    "cProfile": "it runs code that it makes itself",
    "pickle": "it runs code that it is handed",
    "marshal": "it runs code that it is handed",
    "shelve": "it runs code that it is handed",
    "ctypes": "it leaves Python",
    "cffi": "it leaves Python",
    "importlib": "it runs code by name",
    "socket": "it opens connections of its own",
    "smtplib": "it sends data",
    "ftplib": "it sends data",
    "paramiko": "it sends data",
}
_MAKING = frozenset(
    {
        *("eval", "exec", "compile", "__import__", "getattr", "setattr", "globals", "locals", "vars", "breakpoint"),
        *("__builtins__", "__loader__", "__spec__"),
    }
)
"""Names by which code is made or found at run time, called or only named."""
_INNARDS = frozenset({"modules", "_os", "f_globals", "f_builtins", "gi_frame", "cr_frame", "tb_frame"})
_ORDINARY = frozenset({"__name__", "__doc__", "__file__", "__version__", "__init__", "__len__", "__eq__", "__main__"})
_OPENERS = frozenset({"os", "io", "gzip", "bz2", "lzma", "codecs", "tarfile", "zipfile", "tokenize"})
"""Modules whose `open` takes the mode second."""
_SENDING = frozenset({"post", "put", "patch", "sendall", "sendto"})
_PRIVATE = re.compile(r"\.ssh\b|id_rsa|id_ed25519|/etc/(shadow|passwd)|\.aws/|\.netrc|\.gnupg|\.env\b|keystore")


def code_harms(code: str) -> str:
    """In a few words why a person should see this Python before it runs; empty if it shows only reading and computing."""
    if len(code) > LONGEST:
        return "it is too long to be read"
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be read as Python" if code.strip() else ""
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    owners |= {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return next((why for node in ast.walk(tree) for why in [_node_harms(node, owners)] if why), "")


def _node_harms(node: ast.AST, owners: set[int]) -> str:
    match node:
        case ast.Import(names=names):
            tops = [(one.name.split(".")[0], one.asname) for one in names]
            hidden = "it gives the system another name" if any(top in _SYSTEM and alias for top, alias in tops) else ""
            return next((_MODULES[top] for top, _ in tops if top in _MODULES), hidden)
        case ast.ImportFrom(module=module, names=names):
            top = (module or "").split(".")[0]
            changing = [one.name for one in names if top in _SYSTEM and (one.name == "*" or _system_harms(one.name))]
            return _MODULES.get(top, "it changes files or starts programs" if changing else "")
        case ast.Name(id=name) if name in _MAKING:
            return "it runs code that it makes itself"
        case ast.Attribute(attr=name) if name in _INNARDS or (name.startswith("__") and name not in _ORDINARY):
            return "it looks into Python itself"
        case ast.Call(func=ast.Name(id="open")):
            return "it writes files" if _opens_to_write(node, 1) else ""
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="open")) if owner in _OPENERS:
            return "it writes files" if _opens_to_write(node, 1) else ""
        case ast.Call(func=ast.Attribute(attr="open")):
            return "it writes files" if _opens_to_write(node, 0) else ""
        case ast.Attribute(attr=name) if name.startswith("create_subprocess"):
            return "it starts programs"
        case ast.Call(func=ast.Attribute(attr="rename" | "replace"), args=[_]):
            return "it changes files"
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name) if owner in _SYSTEM:
            return _system_harms(name)
        case ast.Attribute(attr=name) if name in _PATHS:
            return "it changes files"
        case ast.Call(func=ast.Attribute(attr="urlopen" | "Request"), args=args, keywords=more) if len(args) > 1 or more:
            return "it sends data" if len(args) > 1 or any(one.arg in ("data", None) for one in more) else ""
        case ast.Attribute(attr=name) if name in _SENDING:
            return "it sends data"
        case ast.Name(id="open") if id(node) not in owners:
            return "it gives the system another name"
        case ast.Name(id=name) if name in _SYSTEM and id(node) not in owners:
            return "it gives the system another name"
        case ast.Constant(value=str(text)) if _PRIVATE.search(text):
            return "it names private files"
    return ""


def _system_harms(name: str) -> str:
    if name in _CHANGING:
        return "it changes files"
    return "it starts programs" if name.startswith(_STARTING) else ""


def _opens_to_write(call: ast.Call, place: int) -> bool:
    """Whether an `open` may write: its mode, the argument at that place, says so or cannot be read."""
    modes = [*call.args[place : place + 1], *(one.value for one in call.keywords if one.arg in ("mode", None))]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return True
    return any(
        not isinstance(mode, ast.Constant) or not isinstance(mode.value, str) or bool(set(mode.value) & set("wax+"))
        for mode in modes
    )
