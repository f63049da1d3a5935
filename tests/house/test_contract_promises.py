"""Every promise of a contract's page is bound to a test, and no test binds what no page promises."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "contracts").glob("*.md")) if path.stem != "etui"}
ROW = re.compile(r"^\| ([A-Z]\d{3}) \| (.+) \| (kept|improved|not offered|not ours|waits)\b(.*) \|$", re.MULTILINE)
ANY = re.compile(r"^\| ([A-Z]\d{3}) \|", re.MULTILINE)


def promised(page: str) -> dict[str, str]:
    """The ids of a page, each with what becomes of it here."""
    return {row[1]: row[3] for row in ROW.finditer(PAGES[page].read_text())}


@cache
def bound() -> dict[str, list[str]]:
    """The ids that tests bind, by `pytest.mark.promise(...)`, each with the files in which they do."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}:{node.lineno}: an id is written out"
                    found.setdefault(str(argument.value), []).append(path.name)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_contract_says_what_becomes_of_it_and_has_an_id_of_its_own(page):
    text = PAGES[page].read_text()
    ids = ANY.findall(text)
    assert len(ids) == len(set(ids)) == len(promised(page)) > 0


@pytest.mark.parametrize("page", PAGES)
def test_every_promise_of_a_contract_is_bound_to_a_test(page):
    known = bound()
    assert [id for id, state in promised(page).items() if state not in ("not ours", "waits") and id not in known] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_test_binds_what_waits(page):
    assert [id for id, state in promised(page).items() if state == "waits" and id in bound()] == []


def test_no_test_binds_what_no_page_promises():
    assert set(bound()) - {id for page in PAGES for id in promised(page)} == set()
