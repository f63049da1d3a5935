# plugins/ssh/tools/ssh_tool.py
import json
import logging
import re
import subprocess
from pathlib import Path

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🖧'
AVAILABLE_FUNCTIONS = ['ssh_get_servers', 'ssh_run_command']

_ROOT = Path(__file__).parent.parent.parent.parent
DEFAULTS = {'output_limit': 6000}
BLACKLIST = ["rm -rf /", "mkfs", "dd if=/dev", ":(){ :|:& };:"]

TOOLS = [
    {"type": "function", "is_local": True, "function": {
        "name": "ssh_get_servers", "description": "Names of the servers you may use.",
        "parameters": {"type": "object", "properties": {}, "required": []}}},
    {"type": "function", "is_local": "endpoint", "network": True, "function": {
        "name": "ssh_run_command", "description": "Run a command on a server.",
        "parameters": {"type": "object", "properties": {
            "server": {"type": "string", "description": "Name from ssh_get_servers"},
            "command": {"type": "string"}}, "required": ["server", "command"]}}},
]


def _load_settings():
    path = _ROOT / "user" / "webui" / "plugins" / "ssh.json"
    settings = DEFAULTS.copy()
    if path.exists():
        try:
            settings.update(json.loads(path.read_text()))
        except Exception:
            pass
    return settings


def _servers():
    from core.credentials_manager import credentials
    return [s for s in credentials.get_ssh_servers() if s.get('enabled', True)]


def _check_blacklist(command):
    for pattern in BLACKLIST:
        try:
            if re.search(pattern, command):
                return f"Blocked: matches '{pattern}'"
        except re.error:
            if pattern in command:
                return f"Blocked: contains '{pattern}'"
    return None


def execute(function_name, arguments, config):
    servers = _servers()
    if not servers:
        return "No SSH servers available. Add one in Settings > Plugins > SSH.", False
    if function_name == 'ssh_get_servers':
        return '\n'.join(f"- {s['name']}" for s in servers), True
    if function_name == 'ssh_run_command':
        server = next((s for s in servers if s['name'] == arguments.get('server')), None)
        if server is None:
            return f"No server named '{arguments.get('server')}'.", False
        blocked = _check_blacklist(arguments.get('command', ''))
        if blocked:
            return blocked, False
        cmd = ['ssh', '-o', 'BatchMode=yes', '-p', str(server.get('port', 22))]
        if server.get('key_path'):
            cmd += ['-i', server['key_path']]
        cmd += [f"{server['user']}@{server['host']}", arguments['command']]
        try:
            done = subprocess.run(cmd, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as e:
            return f"SSH failed: {e}", False
        limit = int(_load_settings()['output_limit'])
        return f"[{server['name']}] $ {arguments['command']}\nExit code: {done.returncode}\n\n{(done.stdout + done.stderr)[:limit]}", done.returncode == 0
    return f"Unknown function: {function_name}", False
