# plugins/memory/tools/knowledge_tools.py
"""
Knowledge base and contacts.

People and knowledge have scopes of their own. Long texts are cut into chunks
so that search can point at the right one.
"""

import logging
import re
import sqlite3
import threading
from pathlib import Path

import numpy as np

from core.embeddings import get_embedder

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '📚'
AVAILABLE_FUNCTIONS = ['save_person', 'save_knowledge', 'search_knowledge', 'delete_knowledge']

CHUNK = 800
_ready = False
_lock = threading.Lock()

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "save_person",
            "description": "Save or update a contact. Same name = update.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "relationship": {"type": "string", "description": "sister, boss, plumber..."},
                    "phone": {"type": "string"},
                    "email": {"type": "string"},
                    "address": {"type": "string"},
                    "notes": {"type": "string"}
                },
                "required": ["name"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "save_knowledge",
            "description": "Store text under a category of the knowledge base.",
            "parameters": {
                "type": "object",
                "properties": {
                    "category": {"type": "string", "description": "Category, made when it does not exist"},
                    "content": {"type": "string"},
                    "description": {"type": "string", "description": "What the category is about"}
                },
                "required": ["category", "content"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "search_knowledge",
            "description": "Search people and knowledge. Without arguments: an overview.",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "category": {"type": "string", "description": "Only this category"},
                    "limit": {"type": "integer", "default": 10}
                },
                "required": []
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "delete_knowledge",
            "description": "Delete one entry by id, or a whole category the AI made.",
            "parameters": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "category": {"type": "string"}
                },
                "required": []
            }
        }
    },
]

SCHEMA = """
CREATE TABLE IF NOT EXISTS people (
    id INTEGER PRIMARY KEY, name TEXT, relationship TEXT, phone TEXT, email TEXT, address TEXT, notes TEXT,
    scope TEXT DEFAULT 'default', email_whitelisted INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS tabs (id INTEGER PRIMARY KEY, name TEXT, description TEXT, scope TEXT DEFAULT 'default');
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, tab_id INTEGER, content TEXT, embedding BLOB,
    FOREIGN KEY (tab_id) REFERENCES tabs(id) ON DELETE CASCADE
);
"""


def _db():
    global _ready
    import config
    path = Path(config.__file__).parent / "user" / "knowledge.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    conn = sqlite3.connect(path, timeout=10)
    conn.execute("PRAGMA foreign_keys=ON")
    with _lock:
        if not _ready:
            conn.executescript(SCHEMA)
            _ready = True
    return conn


def _scope(kind):
    try:
        if kind == 'people':
            from core.chat.function_manager import scope_people
            return scope_people.get()
        from core.chat.function_manager import scope_knowledge
        return scope_knowledge.get()
    except Exception:
        return None


def get_people(scope='default'):
    """Used by the email plugin too."""
    conn = _db()
    try:
        rows = conn.execute(
            "SELECT id, name, email, email_whitelisted FROM people WHERE scope IN (?, 'global') ORDER BY name", (scope,)).fetchall()
    finally:
        conn.close()
    return [{"id": r[0], "name": r[1], "email": r[2], "email_whitelisted": bool(r[3])} for r in rows]


def _changed(domain, scope, action):
    try:
        from core.mind_events import publish_mind_changed
        publish_mind_changed(domain, scope, action)
    except Exception:
        pass


def _save_person(args):
    scope = _scope('people')
    if scope is None:
        return "People contacts are disabled for this chat.", False
    if scope == 'global':
        return "Cannot write to the global scope.", False
    name = (args.get('name') or '').strip()
    if not name:
        return "A name is required.", False
    fields = {k: args[k] for k in ('relationship', 'phone', 'email', 'address', 'notes') if args.get(k)}
    conn = _db()
    try:
        row = conn.execute("SELECT id FROM people WHERE lower(name) = lower(?) AND scope = ?", (name, scope)).fetchone()
        if row:
            for key, value in fields.items():
                conn.execute(f"UPDATE people SET {key} = ? WHERE id = ?", (value, row[0]))
            conn.commit()
            _changed('people', scope, 'update')
            return f"Updated contact: {name} (ID: {row[0]})", True
        keys = ['name', 'scope', *fields]
        cur = conn.execute(
            f"INSERT INTO people ({', '.join(keys)}) VALUES ({', '.join('?' * len(keys))})", (name, scope, *fields.values()))
        conn.commit()
        _changed('people', scope, 'save')
        return f"Saved new contact: {name} (ID: {cur.lastrowid})", True
    finally:
        conn.close()


def _chunks(text):
    parts, current = [], ''
    for sentence in re.split(r'(?<=[.!?])\s+', text):
        if current and len(current) + len(sentence) > CHUNK:
            parts.append(current)
            current = ''
        current = f'{current} {sentence}'.strip()
    return parts + [current] if current else parts


def _embed(text):
    embedder = get_embedder()
    if not embedder.available:
        return None
    found = embedder.embed([text], prefix='search_document')
    return None if found is None else np.asarray(found[0], dtype=np.float32).tobytes()


def _save_knowledge(args):
    scope = _scope('knowledge')
    if scope is None:
        return "Knowledge base is disabled for this chat.", False
    if scope == 'global':
        return "Cannot write to the global scope.", False
    category, content = (args.get('category') or '').strip(), (args.get('content') or '').strip()
    if not category or not content:
        return "Both category and content are required.", False
    conn = _db()
    try:
        row = conn.execute("SELECT id FROM tabs WHERE lower(name) = lower(?) AND scope = ?", (category, scope)).fetchone()
        tab = row[0] if row else conn.execute(
            "INSERT INTO tabs (name, description, scope) VALUES (?, ?, ?)", (category, args.get('description'), scope)).lastrowid
        ids = [conn.execute("INSERT INTO entries (tab_id, content, embedding) VALUES (?, ?, ?)", (tab, part, _embed(part))).lastrowid
               for part in _chunks(content)]
        conn.commit()
    finally:
        conn.close()
    _changed('knowledge', scope, 'save')
    marks = ', '.join(f'id:{i}' for i in ids)
    return f"Saved to '{category}' [{marks}] — {len(content)} chars", True


def _overview(people_scope, scope):
    lines = []
    people = get_people(people_scope) if people_scope else []
    lines.append(f"People ({len(people)}): " + (', '.join(p['name'] for p in people) or 'none'))
    conn = _db()
    try:
        tabs = conn.execute(
            "SELECT name, (SELECT count(*) FROM entries WHERE tab_id = tabs.id) FROM tabs WHERE scope IN (?, 'global')",
            (scope,)).fetchall()
    finally:
        conn.close()
    lines.append(f"Categories ({len(tabs)}): " + (', '.join(f'{n} ({c} entries)' for n, c in tabs) or 'none'))
    return '\n'.join(lines), True


def _search(args):
    scope, people_scope = _scope('knowledge'), _scope('people')
    if scope is None and people_scope is None:
        return "Knowledge base is disabled for this chat.", False
    query, category = (args.get('query') or '').strip(), (args.get('category') or '').strip()
    if not query and not category:
        return _overview(people_scope, scope)
    limit = args.get('limit') or 10
    found = []
    conn = _db()
    try:
        if people_scope and not category:
            for row in conn.execute("SELECT id, name, relationship, phone, email, notes FROM people WHERE scope IN (?, 'global')",
                                    (people_scope,)):
                text = ' | '.join(str(v) for v in row[1:] if v)
                if query.lower() in text.lower():
                    found.append(f"[People] [id:{row[0]}] {text}")
        if scope:
            sql = ("SELECT entries.id, tabs.name, content FROM entries JOIN tabs ON tabs.id = tab_id "
                   "WHERE tabs.scope IN (?, 'global') AND content LIKE ?")
            values = [scope, f'%{query}%']
            if category:
                sql += " AND lower(tabs.name) = lower(?)"
                values.append(category)
            found += [f"[Knowledge] [{name}] [id:{i}] {content}" for i, name, content in conn.execute(sql, values)]
    finally:
        conn.close()
    if not found:
        return f"No results for '{query or category}'.", True
    found = found[:limit]
    return f"Found {len(found)} results:\n" + '\n'.join(found), True


def _delete(args):
    scope = _scope('knowledge')
    if scope is None:
        return "Knowledge base is disabled for this chat.", False
    conn = _db()
    try:
        if args.get('category'):
            name = args['category']
            row = conn.execute("SELECT id FROM tabs WHERE lower(name) = lower(?) AND scope = ?", (name, scope)).fetchone()
            if not row:
                return f"Category '{name}' not found.", False
            conn.execute("DELETE FROM tabs WHERE id = ?", row)
            conn.commit()
            return f"Deleted category '{name}' and all its entries.", True
        if args.get('id'):
            gone = conn.execute(
                "DELETE FROM entries WHERE id = ? AND tab_id IN (SELECT id FROM tabs WHERE scope = ?)", (args['id'], scope)).rowcount
            conn.commit()
            return (f"Deleted entry [{args['id']}].", True) if gone else (f"Entry [{args['id']}] not found.", False)
        return "Provide an id or a category.", False
    finally:
        conn.close()


def execute(function_name, arguments, config):
    try:
        if function_name == 'save_person':
            return _save_person(arguments)
        elif function_name == 'save_knowledge':
            return _save_knowledge(arguments)
        elif function_name == 'search_knowledge':
            return _search(arguments)
        elif function_name == 'delete_knowledge':
            return _delete(arguments)
        return f"Unknown function: {function_name}", False
    except Exception as e:
        logger.error(f"knowledge {function_name}: {e}", exc_info=True)
        return f"Knowledge error: {e}", False
