# plugins/commandline/tools/commandline.py
"""Run a command on localhost. No shell: the words are handed over as they are."""

import json
import logging
import re
import shlex
import subprocess
from pathlib import Path

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '💻'
AVAILABLE_FUNCTIONS = ['run_command']

PROJECT_ROOT = Path(__file__).parent.parent.parent.parent
SETTINGS_FILE = PROJECT_ROOT / "user" / "webui" / "plugins" / "commandline.json"

DEFAULTS = {
    "timeout": 30,
    "blacklist": "rm -rf /\nmkfs\ndd if=/dev\n:(){ :|:& };:",
}

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "run_command",
            "description": "Run a command on the local machine and read what it prints.",
            "parameters": {
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line"},
                    "timeout": {"type": "integer", "description": "Seconds"}
                },
                "required": ["command"]
            }
        }
    }
]


def _load_settings():
    settings = DEFAULTS.copy()
    if SETTINGS_FILE.exists():
        try:
            settings.update(json.loads(SETTINGS_FILE.read_text(encoding='utf-8')))
        except Exception as e:
            logger.warning(f"commandline settings unreadable: {e}")
    return settings


def _blocked_by(command, patterns):
    for pattern in patterns:
        pattern = pattern.strip()
        if not pattern:
            continue
        try:
            if re.search(pattern, command):
                return pattern
        except re.error:
            pass
        if pattern in command:
            return pattern
    return None


def execute(function_name, arguments, config):
    if function_name != 'run_command':
        return f"Unknown function: {function_name}", False
    command = (arguments.get('command') or '').strip()
    if not command:
        return "No command given.", False
    settings = _load_settings()
    matched = _blocked_by(command, settings['blacklist'].splitlines())
    if matched:
        return f"Command blocked by safety filter (matched: {matched}). Ask the user to run it by hand.", False
    try:
        done = subprocess.run(
            shlex.split(command), capture_output=True, text=True, timeout=arguments.get('timeout') or settings['timeout'],
            cwd=str(PROJECT_ROOT))
    except subprocess.TimeoutExpired:
        return f"[localhost] $ {command}\nTimed out.", False
    except FileNotFoundError:
        return f"[localhost] $ {command}\nCommand not found: {shlex.split(command)[0]}", False
    except Exception as e:
        return f"[localhost] $ {command}\nError: {e}", False
    output = done.stdout
    if done.stderr:
        output += f"\n[stderr]\n{done.stderr}"
    return f"[localhost] $ {command}\nExit code: {done.returncode}\n\n{output}", done.returncode == 0
