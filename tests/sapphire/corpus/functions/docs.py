# functions/docs.py
"""Lets the AI look things up in its own manual (docs/*.md)."""

from pathlib import Path

ENABLED = True
EMOJI = '📖'
AVAILABLE_FUNCTIONS = ['search_help_docs']

DOCS_DIR = Path(__file__).parent.parent / 'docs'


def _names():
    try:
        return sorted(p.stem.lower() for p in DOCS_DIR.glob('*.md'))
    except OSError:
        return []


TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "search_help_docs",
            "description": f"Read a help document about this system. Documents: {', '.join(_names())}",
            "parameters": {
                "type": "object",
                "properties": {
                    "doc_name": {
                        "type": "string",
                        "description": "Name of the document, without .md"
                    }
                },
                "required": ["doc_name"]
            }
        }
    }
]


def execute(function_name, arguments, config):
    if function_name != 'search_help_docs':
        return f"Unknown function: {function_name}", False
    wanted = (arguments.get('doc_name') or '').strip().lower()
    if wanted.endswith('.md'):
        wanted = wanted[:-3]
    for path in sorted(DOCS_DIR.glob('*.md')):
        if path.stem.lower() == wanted:
            return path.read_text(encoding='utf-8'), True
    return f"Doc '{wanted}' not found. Available: {', '.join(_names())}", False
