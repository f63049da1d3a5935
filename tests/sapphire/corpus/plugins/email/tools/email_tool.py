# plugins/email/tools/email_tool.py
"""
Mail. The AI never sees an address: it picks contacts by number, and only those
that the user whitelisted.
"""

import imaplib
import email
import logging
import smtplib
import time
from email.mime.text import MIMEText

logger = logging.getLogger(__name__)

ENABLED = True
EMOJI = '📧'
AVAILABLE_FUNCTIONS = ['get_inbox', 'read_email', 'archive_emails', 'get_recipients', 'send_email']

CACHE_TTL = 60
_cache = {}   # scope -> {'timestamp', 'data'}

NOT_CONFIGURED = "Email not configured. Add an account in Settings > Plugins > Email."

TOOLS = [
    {
        "type": "function",
        "network": True,
        "is_local": False,
        "function": {
            "name": "get_inbox",
            "description": "The newest mails: number, sender's name, subject.",
            "parameters": {
                "type": "object",
                "properties": {"count": {"type": "integer", "default": 20}},
                "required": []
            }
        }
    },
    {
        "type": "function",
        "network": True,
        "is_local": False,
        "function": {
            "name": "read_email",
            "description": "Read one mail of the inbox by its number.",
            "parameters": {
                "type": "object",
                "properties": {"index": {"type": "integer"}},
                "required": ["index"]
            }
        }
    },
]

TOOLS.append({
    "type": "function",
    "network": True,
    "is_local": False,
    "function": {
        "name": "archive_emails",
        "description": "Archive mails by their numbers.",
        "parameters": {
            "type": "object",
            "properties": {"indices": {"type": "array", "items": {"type": "integer"}, "minItems": 1}},
            "required": ["indices"]
        }
    }
})
TOOLS.append({
    "type": "function",
    "is_local": True,
    "function": {
        "name": "get_recipients",
        "description": "Whom you may write to: id and name.",
        "parameters": {"type": "object", "properties": {}, "required": []}
    }
})
TOOLS.append({
    "type": "function",
    "network": True,
    "is_local": False,
    "function": {
        "name": "send_email",
        "description": "Send a mail to a whitelisted contact.",
        "parameters": {
            "type": "object",
            "properties": {
                "recipient_id": {"type": "integer"},
                "subject": {"type": "string"},
                "body": {"type": "string"}
            },
            "required": ["recipient_id", "subject", "body"]
        }
    }
})


def _get_scope():
    try:
        from core.chat.function_manager import scope_email
        return scope_email.get()
    except Exception:
        return None


def _people_scope():
    try:
        from core.chat.function_manager import scope_people
        return scope_people.get()
    except Exception:
        return 'default'


def _account(scope):
    from core.credentials_manager import credentials
    account = credentials.get_email_account(scope)
    if not account or not account.get('address') or not account.get('imap_server'):
        return None
    return account


def _get_cached(scope):
    entry = _cache.get(scope)
    if entry and time.time() - entry['timestamp'] < CACHE_TTL:
        return entry['data']
    return None


def _login(account):
    box = imaplib.IMAP4_SSL(account['imap_server'], int(account.get('imap_port') or 993))
    box.login(account['address'], account['app_password'])
    return box


def _fetch_inbox(scope, account, count):
    cached = _get_cached(scope)
    if cached is not None:
        return cached
    box = _login(account)
    try:
        box.select('INBOX')
        ids = box.search(None, 'ALL')[1][0].split()[-count:][::-1]
        mails = []
        for uid in ids:
            message = email.message_from_bytes(box.fetch(uid, '(BODY.PEEK[])')[1][0][1])
            mails.append({'uid': uid, 'from': email.utils.parseaddr(message['From'])[0] or 'Unknown',
                          'subject': message['Subject'] or '(none)', 'message': message})
    finally:
        box.logout()
    _cache[scope] = {'timestamp': time.time(), 'data': mails}
    return mails


def _recipients():
    try:
        from plugins.memory.tools.knowledge_tools import get_people
        return [p for p in get_people(_people_scope() or 'default') if p['email_whitelisted'] and p['email']]
    except Exception as e:
        logger.debug(f"[EMAIL] no contacts: {e}")
        return []


def _body(message):
    for part in message.walk():
        if part.get_content_type() == 'text/plain':
            return part.get_payload(decode=True).decode(part.get_content_charset() or 'utf-8', 'replace')
    return '(no text)'


def execute(function_name, arguments, config):
    scope = _get_scope()
    if scope is None:
        return "Email is disabled for this chat.", False
    try:
        if function_name == 'get_recipients':
            people = _recipients()
            if not people:
                return "No contacts are whitelisted for email. The user can allow some on the People page.", True
            return '\n'.join(f"[{p['id']}] {p['name']}" for p in people), True

        account = _account(scope)
        if account is None:
            return NOT_CONFIGURED, False

        if function_name == 'get_inbox':
            mails = _fetch_inbox(scope, account, arguments.get('count', 20))
            return '\n'.join(f"{i}. {m['from']}: {m['subject']}" for i, m in enumerate(mails, 1)) or 'Inbox is empty.', True
        if function_name == 'read_email':
            mails = _fetch_inbox(scope, account, 20)
            index = arguments.get('index', 1)
            if not 1 <= index <= len(mails):
                return f"No mail number {index}. Call get_inbox first.", False
            return _body(mails[index - 1]['message']), True
        if function_name == 'archive_emails':
            mails = _fetch_inbox(scope, account, 20)
            box = _login(account)
            box.select('INBOX')
            done = 0
            for index in arguments.get('indices', []):
                if 1 <= index <= len(mails):
                    box.store(mails[index - 1]['uid'], '+FLAGS', '\\Deleted')
                    done += 1
            box.expunge()
            box.logout()
            _cache.pop(scope, None)
            return f"Archived {done} mail(s).", True
        if function_name == 'send_email':
            person = next((p for p in _recipients() if p['id'] == arguments.get('recipient_id')), None)
            if person is None:
                return "That contact is not whitelisted.", False
            mail = MIMEText(arguments.get('body', ''))
            mail['From'], mail['To'], mail['Subject'] = account['address'], person['email'], arguments.get('subject', '')
            with smtplib.SMTP(account['smtp_server'], int(account.get('smtp_port') or 587)) as smtp:
                smtp.starttls()
                smtp.login(account['address'], account['app_password'])
                smtp.send_message(mail)
            return f"Sent to {person['name']}.", True
    except Exception as e:
        logger.error(f"[EMAIL] {function_name}: {e}")
        return f"Email error: {e}", False
    return f"Unknown function: {function_name}", False
