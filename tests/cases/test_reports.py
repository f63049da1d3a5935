"""Every report is bound to tests that exist."""

from __future__ import annotations

from tests.cases.reports import ELSEWHERE, REPORTS, exists, here


def test_every_report_has_a_test_in_this_folder():
    assert sorted(here()) == sorted(REPORTS)


def test_every_test_that_is_named_exists():
    missing = {report: test for report, tests in ELSEWHERE.items() for test in tests if not exists(test)}
    assert missing == {}
    assert set(ELSEWHERE) <= set(REPORTS)
