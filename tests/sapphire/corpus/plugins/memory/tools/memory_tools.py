# plugins/memory/tools/memory_tools.py
"""
Long-term memory in SQLite.

Search order: embeddings when there is an embedder, FTS5, then LIKE.
Rows carry a scope; scope 'global' is shared and read-only for the AI.
"""

import logging
import sqlite3
import threading
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import numpy as np

from core.embeddings import get_embedder, stamp_embedding

logger = logging.getLogger(__name__)

MAX_MEMORY_LENGTH = 512
DEFAULT_LIMIT = 10

_db_path = None
_db_initialized = False
_db_lock = threading.Lock()

ENABLED = True
EMOJI = '🧠'
AVAILABLE_FUNCTIONS = [
    'save_memory',
    'search_memory',
    'get_recent_memories',
    'delete_memory',
]

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "save_memory",
            "description": f"Save one fact to long-term memory. At most {MAX_MEMORY_LENGTH} characters.",
            "parameters": {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "description": f"The fact, max {MAX_MEMORY_LENGTH} characters"},
                    "label": {"type": "string", "description": "One-word label, like 'preferences'"},
                    "private_key": {"type": "string", "description": "Only readable with this key"}
                },
                "required": ["content"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "search_memory",
            "description": "Search memory by meaning or words.",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to look for"},
                    "limit": {"type": "integer", "description": f"Max results (default {DEFAULT_LIMIT})"},
                    "label": {"type": "string", "description": "Only these labels, comma separated"},
                    "private_key": {"type": "string", "description": "Key of private memories"}
                },
                "required": ["query"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "get_recent_memories",
            "description": "The newest memories.",
            "parameters": {
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "description": "How many", "default": DEFAULT_LIMIT},
                    "label": {"type": "string", "description": "Only these labels, comma separated"},
                    "private_key": {"type": "string", "description": "Key of private memories"}
                }
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "delete_memory",
            "description": "Delete a memory by its number.",
            "parameters": {
                "type": "object",
                "properties": {"memory_id": {"type": "integer", "description": "Number in brackets"}},
                "required": ["memory_id"]
            }
        }
    },
]


def _get_db_path():
    global _db_path
    if _db_path is None:
        import config
        _db_path = Path(config.__file__).parent / "user" / "memory.db"
        _db_path.parent.mkdir(parents=True, exist_ok=True)
    return _db_path


@contextmanager
def _connect():
    conn = sqlite3.connect(_get_db_path(), timeout=10)
    try:
        conn.execute("PRAGMA journal_mode=WAL")
        yield conn
        conn.commit()
    finally:
        conn.close()


def _ensure_db():
    global _db_initialized
    with _db_lock:
        if _db_initialized:
            return
        with _connect() as conn:
            conn.execute("""
                CREATE TABLE IF NOT EXISTS memories (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    content TEXT NOT NULL,
                    label TEXT,
                    scope TEXT NOT NULL DEFAULT 'default',
                    private_key TEXT,
                    embedding BLOB,
                    timestamp DATETIME DEFAULT CURRENT_TIMESTAMP
                )
            """)
            conn.execute("CREATE VIRTUAL TABLE IF NOT EXISTS memories_fts USING fts5(content, label)")
        _db_initialized = True


def _get_current_scope():
    try:
        from core.chat.function_manager import scope_memory
        return scope_memory.get()
    except Exception:
        return None  # fail disabled, never into somebody else's slot


def _labels(label):
    return [part.strip().lower() for part in (label or '').split(',') if part.strip()]


def _visible(scope, private_key, labels):
    where, values = "scope IN (?, 'global')", [scope]
    if private_key:
        where += " AND (private_key IS NULL OR private_key = ?)"
        values.append(private_key)
    else:
        where += " AND private_key IS NULL"
    if labels:
        where += f" AND lower(label) IN ({','.join('?' * len(labels))})"
        values += labels
    return where, values


def _ago(timestamp):
    try:
        then = datetime.strptime(timestamp, '%Y-%m-%d %H:%M:%S')
    except (TypeError, ValueError):
        return 'unknown'
    seconds = (datetime.utcnow() - then).total_seconds()
    if seconds < 60:
        return 'just now'
    if seconds < 3600:
        return f'{int(seconds // 60)}m ago'
    if seconds < 86400:
        return f'{int(seconds // 3600)}h ago'
    return f'{int(seconds // 86400)}d ago'


def _line(row):
    memory_id, content, label, timestamp = row
    tag = f' [{label}]' if label else ''
    return f'[{memory_id}] ({_ago(timestamp)}){tag} {content}'


def _changed(scope, action):
    try:
        from core.mind_events import publish_mind_changed
        publish_mind_changed('memory', scope, action)
    except Exception:
        pass


def _save(content, label, private_key, scope):
    content = (content or '').strip()
    if not content:
        return "Cannot save empty memory.", False
    if len(content) > MAX_MEMORY_LENGTH:
        return f"Memory too long ({len(content)} chars). Max is {MAX_MEMORY_LENGTH}. Shorten it and try again.", False
    if scope == 'global':
        return "Cannot write to the global scope. Switch the chat to another memory scope.", False
    blob = None
    embedder = get_embedder()
    if embedder.available:
        vectors = embedder.embed([content], prefix='search_document')
        if vectors is not None:
            blob = np.asarray(vectors[0], dtype=np.float32).tobytes()
    with _connect() as conn:
        cur = conn.execute(
            "INSERT INTO memories (content, label, scope, private_key, embedding) VALUES (?, ?, ?, ?, ?)",
            (content, label or None, scope, private_key or None, blob))
        memory_id = cur.lastrowid
        conn.execute("INSERT INTO memories_fts (rowid, content, label) VALUES (?, ?, ?)", (memory_id, content, label))
        if blob is not None:
            stamp_embedding(conn, 'memories', memory_id, embedder.provider_id)
    _changed(scope, 'save')
    if private_key:
        return f"Memory saved (ID: {memory_id} [private])", True
    return f"Memory saved (ID: {memory_id}{', label: ' + label if label else ''})", True


def _search(query, limit, label, private_key, scope):
    labels = _labels(label)
    where, values = _visible(scope, private_key, labels)
    words = [w for w in (query or '').replace('"', ' ').split() if w]
    with _connect() as conn:
        rows = []
        if words:
            match = ' '.join(f'"{w}"' for w in words)
            rows = conn.execute(
                f"SELECT id, content, label, timestamp FROM memories WHERE {where} AND id IN "
                "(SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?) ORDER BY id DESC LIMIT ?",
                (*values, match, limit)).fetchall()
            if not rows:
                rows = conn.execute(
                    f"SELECT id, content, label, timestamp FROM memories WHERE {where} AND content LIKE ? "
                    "ORDER BY id DESC LIMIT ?", (*values, f"%{' '.join(words)}%", limit)).fetchall()
    if not rows:
        tail = f" with labels '{', '.join(labels)}'" if labels else ''
        return f"No memories found for '{query}'{tail}.", True
    return f"Found {len(rows)} memories:\n" + '\n'.join(_line(r) for r in rows), True


def _recent(count, label, private_key, scope):
    where, values = _visible(scope, private_key, _labels(label))
    with _connect() as conn:
        rows = conn.execute(
            f"SELECT id, content, label, timestamp FROM memories WHERE {where} ORDER BY id DESC LIMIT ?",
            (*values, count)).fetchall()
    if not rows:
        return "No memories stored.", True
    return '\n'.join(_line(r) for r in rows), True


def _delete(memory_id, scope):
    if scope == 'global':
        return "Cannot delete from the global scope.", False
    with _connect() as conn:
        row = conn.execute("SELECT content FROM memories WHERE id = ? AND scope = ?", (memory_id, scope)).fetchone()
        if not row:
            return f"Memory [{memory_id}] not found in current memory slot.", False
        conn.execute("DELETE FROM memories WHERE id = ?", (memory_id,))
        conn.execute("DELETE FROM memories_fts WHERE rowid = ?", (memory_id,))
    _changed(scope, 'delete')
    return f"Deleted memory [{memory_id}]: {row[0]}", True


def execute(function_name, arguments, config):
    try:
        scope = _get_current_scope()
        if scope is None:
            return "Memory is disabled for this chat.", False
        _ensure_db()
        key = arguments.get('private_key')
        if function_name == 'save_memory':
            return _save(arguments.get('content', ''), arguments.get('label'), key, scope)
        if function_name == 'search_memory':
            return _search(arguments.get('query', ''), arguments.get('limit', DEFAULT_LIMIT), arguments.get('label'), key, scope)
        if function_name == 'get_recent_memories':
            return _recent(arguments.get('count', DEFAULT_LIMIT), arguments.get('label'), key, scope)
        if function_name == 'delete_memory':
            return _delete(arguments.get('memory_id'), scope)
        return f"Unknown function: {function_name}", False
    except Exception as e:
        logger.error(f"memory {function_name}: {e}", exc_info=True)
        return f"Memory error: {e}", False
