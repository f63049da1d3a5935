# functions/notepad.py
"""
A single scratch file the AI can read and edit line by line.
"""

import logging
import os

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '📝'

NOTEPAD_FILE = 'user/notepad.txt'

AVAILABLE_FUNCTIONS = [
    'notepad_read',
    'notepad_append_lines',
    'notepad_delete_lines',
    'notepad_insert_line',
]

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "notepad_read",
            "description": "Read the notepad. Lines are numbered from 1.",
            "parameters": {"type": "object", "properties": {}, "required": []}
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "notepad_append_lines",
            "description": "Add lines to the end of the notepad.",
            "parameters": {
                "type": "object",
                "properties": {
                    "lines": {"type": "array", "items": {"type": "string"}, "description": "Lines to add"}
                },
                "required": ["lines"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "notepad_delete_lines",
            "description": "Delete lines by number.",
            "parameters": {
                "type": "object",
                "properties": {
                    "line_numbers": {"type": "array", "items": {"type": "integer"}, "description": "Which lines, from 1"}
                },
                "required": ["line_numbers"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "notepad_insert_line",
            "description": "Insert one line after the given line number (0 = at the top).",
            "parameters": {
                "type": "object",
                "properties": {
                    "after_line": {"type": "integer", "description": "Insert after this line"},
                    "content": {"type": "string", "description": "Text of the new line"}
                },
                "required": ["after_line", "content"]
            }
        }
    },
]


def _read_lines():
    if not os.path.exists(NOTEPAD_FILE):
        return []
    with open(NOTEPAD_FILE, 'r', encoding='utf-8') as f:
        return f.read().splitlines()


def _write_lines(lines):
    os.makedirs(os.path.dirname(NOTEPAD_FILE), exist_ok=True)
    with open(NOTEPAD_FILE, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines))


def execute(function_name, arguments, config):
    try:
        lines = _read_lines()

        if function_name == 'notepad_read':
            if not lines:
                return "(notepad is empty)", True
            return '\n'.join(f"[{i}] {line}" for i, line in enumerate(lines, 1)), True

        elif function_name == 'notepad_append_lines':
            new = arguments.get('lines', [])
            if isinstance(new, str):
                new = [new]
            if not new:
                return "No lines given.", False
            lines.extend(str(line) for line in new)
            _write_lines(lines)
            return f"Appended {len(new)} line(s). Notepad now has {len(lines)} lines.", True

        elif function_name == 'notepad_delete_lines':
            numbers = arguments.get('line_numbers', [])
            if isinstance(numbers, int):
                numbers = [numbers]
            bad = [n for n in numbers if n < 1 or n > len(lines)]
            if bad:
                return f"Invalid line numbers: {bad}. Valid range: 1-{len(lines)}", False
            kept = [line for i, line in enumerate(lines, 1) if i not in set(numbers)]
            _write_lines(kept)
            return f"Deleted {len(lines) - len(kept)} line(s). {len(kept)} lines remaining.", True

        elif function_name == 'notepad_insert_line':
            after = arguments.get('after_line', 0)
            if after < 0 or after > len(lines):
                return f"Invalid position: {after}. Valid range: 0-{len(lines)}", False
            lines.insert(after, arguments.get('content', ''))
            _write_lines(lines)
            return f"Inserted at line {after + 1}. Notepad now has {len(lines)} lines.", True

        return f"Unknown function: {function_name}", False
    except Exception as e:
        logger.error(f"notepad {function_name} error: {e}")
        return f"Notepad error: {e}", False
