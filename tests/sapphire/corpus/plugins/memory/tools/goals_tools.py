# plugins/memory/tools/goals_tools.py
"""Goals with subtasks and a progress journal."""

import logging
import sqlite3
from pathlib import Path

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '🎯'
AVAILABLE_FUNCTIONS = ['create_goal', 'list_goals', 'update_goal', 'delete_goal']

PRIORITIES = ('high', 'medium', 'low')
STATUSES = ('active', 'completed', 'abandoned')

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "create_goal",
            "description": "Create a goal, or a subtask when parent_id is given.",
            "parameters": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "description": {"type": "string"},
                    "priority": {"type": "string", "enum": ["high", "medium", "low"], "default": "medium"},
                    "parent_id": {"type": "integer", "description": "Make it a subtask of this goal"}
                },
                "required": ["title"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "list_goals",
            "description": "List goals, or one goal with everything about it.",
            "parameters": {
                "type": "object",
                "properties": {
                    "goal_id": {"type": "integer"},
                    "status": {"type": "string", "enum": ["active", "completed", "abandoned", "all"], "default": "active"}
                },
                "required": []
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "update_goal",
            "description": "Change a goal and/or log progress.",
            "parameters": {
                "type": "object",
                "properties": {
                    "goal_id": {"type": "integer"},
                    "title": {"type": "string"},
                    "priority": {"type": "string", "enum": ["high", "medium", "low"]},
                    "status": {"type": "string", "enum": ["active", "completed", "abandoned"]},
                    "progress_note": {"type": "string"}
                },
                "required": ["goal_id"]
            }
        }
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "delete_goal",
            "description": "Delete a goal with its subtasks.",
            "parameters": {
                "type": "object",
                "properties": {"goal_id": {"type": "integer"}},
                "required": ["goal_id"]
            }
        }
    },
]


def _db():
    import config
    path = Path(config.__file__).parent / "user" / "goals.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    conn = sqlite3.connect(path, timeout=10)
    conn.row_factory = sqlite3.Row
    conn.execute("CREATE TABLE IF NOT EXISTS goals (id INTEGER PRIMARY KEY, title TEXT, description TEXT, priority TEXT, "
                 "status TEXT DEFAULT 'active', parent_id INTEGER, scope TEXT)")
    conn.execute("CREATE TABLE IF NOT EXISTS progress (goal_id INTEGER, note TEXT, at DATETIME DEFAULT CURRENT_TIMESTAMP)")
    return conn


def _get_scope():
    try:
        from core.chat.function_manager import scope_goal
        return scope_goal.get()
    except Exception:
        return None


def _notify(scope, action):
    try:
        from core.mind_events import publish_mind_changed
        publish_mind_changed('goal', scope, action)
    except Exception:
        pass


def _bad_priority(priority):
    return f"Invalid priority '{priority}'. Choose from: {', '.join(PRIORITIES)}.", False


def _create(conn, args, scope):
    title = (args.get('title') or '').strip()
    if not title:
        return "A title is required.", False
    priority = (args.get('priority') or 'medium').lower()
    if priority not in PRIORITIES:
        return _bad_priority(priority)
    parent = args.get('parent_id')
    if parent and not conn.execute("SELECT 1 FROM goals WHERE id = ? AND scope = ?", (parent, scope)).fetchone():
        return f"Goal [{parent}] not found.", False
    cur = conn.execute("INSERT INTO goals (title, description, priority, parent_id, scope) VALUES (?, ?, ?, ?, ?)",
                       (title, args.get('description'), priority, parent, scope))
    conn.commit()
    _notify(scope, 'create')
    if parent:
        return f"Subtask created: [{cur.lastrowid}] {title} ({priority}) under goal [{parent}]", True
    return f"Goal created: [{cur.lastrowid}] {title} ({priority})", True


def _list(conn, args, scope):
    status = args.get('status') or 'active'
    rows = conn.execute("SELECT * FROM goals WHERE scope IN (?, 'global') AND parent_id IS NULL ORDER BY id", (scope,)).fetchall()
    if args.get('goal_id'):
        rows = [r for r in rows if r['id'] == args['goal_id']]
    elif status != 'all':
        rows = [r for r in rows if r['status'] == status]
    if not rows:
        return f"No goals in scope '{scope}'. Use create_goal to start planning.", True
    out = []
    for row in rows:
        out.append(f"[{row['id']}] {row['title']} ({row['priority']}, {row['status']})")
        for sub in conn.execute("SELECT * FROM goals WHERE parent_id = ? ORDER BY id", (row['id'],)):
            out.append(f"  {'x' if sub['status'] == 'completed' else '-'} [{sub['id']}] {sub['title']} ({sub['priority']})")
        for note in conn.execute("SELECT note FROM progress WHERE goal_id = ? ORDER BY at DESC LIMIT 5", (row['id'],)):
            out.append(f"  > {note['note']}")
    return '\n'.join(out), True


def _update(conn, args, scope):
    goal_id = args.get('goal_id')
    row = conn.execute("SELECT * FROM goals WHERE id = ? AND scope = ?", (goal_id, scope)).fetchone()
    if not row:
        return f"Goal [{goal_id}] not found.", False
    done = []
    for key in ('title', 'priority', 'status'):
        value = args.get(key)
        if not value:
            continue
        if key == 'priority' and value not in PRIORITIES:
            return _bad_priority(value)
        if key == 'status' and value not in STATUSES:
            return f"Invalid status '{value}'. Choose from: {', '.join(STATUSES)}.", False
        conn.execute(f"UPDATE goals SET {key} = ? WHERE id = ?", (value, goal_id))
        done.append(f"{key} → {value}")
    note = args.get('progress_note')
    if note:
        conn.execute("INSERT INTO progress (goal_id, note) VALUES (?, ?)", (goal_id, note))
        done.append(f"logged: {note}")
    if not done:
        return "Nothing to update. Give a title, priority, status or progress_note.", False
    conn.commit()
    _notify(scope, 'update')
    text = f"Goal [{goal_id}] updated: {', '.join(done)}"
    if args.get('status') == 'completed' and row['parent_id']:
        left = conn.execute("SELECT count(*) FROM goals WHERE parent_id = ? AND status = 'active'", (row['parent_id'],)).fetchone()[0]
        if not left:
            text += f"\nAll subtasks of [{row['parent_id']}] are complete. Mark the goal completed too?"
    return text, True


def _delete(conn, args, scope):
    goal_id = args.get('goal_id')
    row = conn.execute("SELECT * FROM goals WHERE id = ? AND scope = ?", (goal_id, scope)).fetchone()
    if not row:
        return f"Goal [{goal_id}] not found.", False
    subs = conn.execute("DELETE FROM goals WHERE parent_id = ?", (goal_id,)).rowcount
    conn.execute("DELETE FROM goals WHERE id = ?", (goal_id,))
    conn.commit()
    _notify(scope, 'delete')
    tail = f" and {subs} subtask(s)" if subs else ''
    return f"Deleted goal [{goal_id}] '{row['title']}'{tail}", True


def execute(function_name, arguments, config):
    scope = _get_scope()
    if scope is None:
        return "Goals are disabled for this chat.", False
    if scope == 'global' and function_name != 'list_goals':
        return "Cannot write to the global scope.", False
    handlers = {'create_goal': _create, 'list_goals': _list, 'update_goal': _update, 'delete_goal': _delete}
    if function_name not in handlers:
        return f"Unknown function: {function_name}", False
    conn = _db()
    try:
        return handlers[function_name](conn, arguments, scope)
    except Exception as e:
        logger.error(f"goals {function_name}: {e}", exc_info=True)
        return f"Goal error: {e}", False
    finally:
        conn.close()
