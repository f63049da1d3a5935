"""Every promise of the pages is bound to tests that exist, and stands on its page."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from tests.house.test_contract_promises import PAGES as CONTRACTS
from tests.promises import FIGURES, PROMISES

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]


@cache
def names(file: str) -> frozenset[str]:
    """The tests in a file below `tests/`; none where there is no such file."""
    path = ROOT / "tests" / file
    body = ast.parse(path.read_text()).body if path.exists() else []
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_each_promise_has_an_id_of_its_own_and_at_least_one_test():
    assert [id for id, count in Counter(promise.id for promise in PROMISES).items() if count > 1] == []
    assert [promise.id for promise in PROMISES if not promise.tests] == []


def test_each_test_that_binds_a_promise_exists():
    missing = []
    for promise in PROMISES:
        for test in promise.tests:
            file, _, name = test.partition("::")
            if f"test_{name}" not in names(file):
                missing.append(f"{promise.id}: {test}")
    assert missing == []


def test_each_promise_stands_on_its_page():
    pages = {page: flat((ROOT / page).read_text()) for page in PAGES}
    assert [f"{promise.id}: {promise.words}" for promise in PROMISES if promise.words not in pages[promise.page]] == []


def test_every_page_has_its_promises_bound():
    by_id = {str(path.relative_to(ROOT)) for path in CONTRACTS.values()}
    assert set(PAGES) - {promise.page for promise in PROMISES} - FIGURES - by_id == set()
