"""What the pages promise is what the code has."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from etui.gate import RULES
from etui.outcome import Status
from etui.settings import TABLE
from etui.surfaces.cli import etui as group

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PAGES = {path.name: path.read_text() for path in (ROOT / "docs").rglob("*.md")}


def test_the_settings_page_is_made_from_the_table():
    loader = importlib.machinery.SourceFileLoader("settings_page", str(ROOT / "scripts" / "settings-page"))
    spec = importlib.util.spec_from_loader("settings_page", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert module.page() == PAGES["settings.md"]


def test_every_setting_is_read_somewhere():
    code = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py") if path.name != "settings.py")
    names = [row.name for row in TABLE if not row.name.startswith("allow_")]
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


def test_every_outcome_is_explained():
    assert [status for status in Status if f"`{status}`" not in PAGES["house.md"]] == []


def test_every_rule_is_named_on_the_security_page():
    names = [rule.__name__ for rule in RULES]
    shown = {"out_of_scope": "toolset", "other_mode": "mode", "pin_needed": "pin", "risk_policy": "allow_exec"}
    assert [name for name in names if f"`{shown.get(name, name)}`" not in PAGES["security.md"]] == []


@pytest.mark.parametrize("name", sorted(group.commands))
def test_every_command_is_in_the_readme(name):
    assert re.search(rf"`etui {name}\b", README)


def test_the_program_on_the_house_page_does_what_it_says(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", PAGES["house.md"], re.DOTALL)
    environ = {**os.environ, "ETUI_HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", block], env=environ, capture_output=True, text=True, check=True)
    assert ran.stdout == "ok 42\n"


def test_every_page_that_is_named_exists():
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_no_page_names_a_path_of_one_machine():
    for name, text in PAGES.items():
        assert not re.search(r"(?<![\w~])/(work|farm|root|home/\w+)/", text), name
