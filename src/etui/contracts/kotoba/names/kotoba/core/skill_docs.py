"""`kotoba.core.skill_docs`: Markdown guides in the folder `skills` of the working folder; nothing else is read.

Below: `witnesses`. It refuses to know: who follows them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from etui.contracts.kotoba.witnesses import work

_MOST = 1_000_000
"""Characters of a guide that are read."""


def skills_dir() -> Path:
    """The folder that the guides lie in."""
    return work() / "skills"


def list_skills() -> list[dict[str, Any]]:
    """`name`, `title`, `description` and `requires_toolsets` of each guide, by file name."""
    found = []
    for path in sorted(skills_dir().glob("*.md")):
        text = _read(path)
        if text is None:
            continue
        said, body = _head(text)
        title = next((row[2:].strip() for row in body.splitlines() if row.startswith("# ")), "")
        first = next((row.strip() for row in body.splitlines() if row.strip() and not row.startswith("#")), "")
        found.append(
            {
                "name": said.get("name") or path.stem,
                "title": said.get("name") or title or path.stem,
                "description": said.get("description") or first,
                "requires_toolsets": re.findall(r"[^\s,\[\]\"']+", said.get("requires_toolsets", "")),
            }
        )
    return found


def view_skill(name: str) -> str | None:
    """The whole text of a guide, or None where there is none of that name."""
    slug = re.sub(r"[^a-z0-9]+", "-", str(name or "").lower()).strip("-")
    return _read(skills_dir() / f"{slug}.md") if slug else None


def _read(path: Path) -> str | None:
    """The text of a file that lies in the folder itself, or None; a link that leads out of it leads nowhere."""
    try:
        if not path.resolve().is_relative_to(skills_dir().resolve()):
            return None
        return path.read_text(encoding="utf-8", errors="replace")[:_MOST]
    except OSError:
        return None


def _head(text: str) -> tuple[dict[str, str], str]:
    """The `key: value` rows between two `---` at the beginning, and what follows them."""
    rows = text.splitlines()
    if not rows or rows[0].strip() != "---" or "---" not in (row.strip() for row in rows[1:]):
        return {}, text
    end = next(number for number, row in enumerate(rows[1:], 1) if row.strip() == "---")
    said: dict[str, str] = {}
    key = ""
    for row in rows[1:end]:
        if row[:1].isspace() and key:
            said[key] = f"{said[key]} {row.strip()}".strip(" >|")
        elif ":" in row:
            key, _, value = (part.strip() for part in row.partition(":"))
            said[key] = value.strip("\"'>|")
    return said, "\n".join(rows[end + 1 :])
