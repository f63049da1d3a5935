"""Secrets hidden from eyes: masked by the name they go under and by the shape they have, at any depth; names stay visible.

Pure functions over JSON values, for the audit, the log and errors. What is masked twice is as if masked once.
Above: `journal`, and whoever shows or logs what a tool was given. Below: `encoding`.
It refuses to know: where the values come from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote, quote_plus

import jsonschema_rs

from etui.store.encoding import DEPTH, pack, unpack

MASK = "•••"
"""What stands where a secret was."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES = _words("""
    password passwords passwd passphrase passcode passkey pwd pw pswd pass secret secrets token tokens authorization
    authentication auth credential credentials cred creds cookie cookies pin otp totp mfa cvv cvc jwt bearer apikey ssn
    signature sig hmac passwort kennwort geheimnis contraseña clave senha
""")
"""Words that make a name a secret's."""
_JOINED = tuple(
    _words("apikey accesskey privatekey secretkey password passwd passphrase secret token authorization credential")
)
"""The same where words are written together, such as `mypassword`; a name that ends so is a secret's."""
_KEYS = _words("""
    api access private secret secrets encryption signing signature license account auth service master ssh storage client app
    application shared session security server admin deploy host consumer subscription webhook bot gpg pgp rsa
""")
"""Words that make a name that ends in `key` a secret's."""
_ABOUT = _words("""
    count counts limit limits max min size length len type kind ttl expiry expires expired expiration policy hint usage used
    budget required enabled present valid attempts retries age url uri endpoint format prefix algorithm alg name names scope
    scopes at
""")
"""Last words of a name that is about a secret and holds none, such as `token_count`."""
_QUERY = _words("key sig signature auth code hmac k")
"""Names that are a secret's in the query of an address."""
_LABELS = frozenset(("name", "key", "header", "field", "option", "variable"))
_HELD = ("value", "val", "content", "data")
_BARE_KINDS = frozenset((int, float, bool, type(None)))


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether what goes under this name is a secret, however the name is written: `apiKey`, `API-KEY`, `telegram.bot_token`."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[-1] in _ABOUT:
        return False
    if not _NAMES.isdisjoint(words):
        return True
    if words[-1] in ("key", "keys") and not _KEYS.isdisjoint(words[:-1]):
        return True
    joined = "".join(words)
    return joined.endswith(_JOINED)


def mask(value: object, known: frozenset[str] = frozenset()) -> object:
    """The JSON value with every secret masked; `known` are secrets that are masked wherever they turn up."""
    if not known and type(value) is dict and (copy := _flat(value)) is not None:
        return copy
    return _masked(value, _Known(known) if known else _NONE, hidden=False)


def mask_text(text: str, known: frozenset[str] = frozenset()) -> str:
    """The text with every secret masked that its shape or the name before it gives away."""
    return _by_shape(_Known(known)(text) if known else text)


def without(value: object, known: frozenset[str]) -> object:
    """The JSON value without these secrets, wherever they stand, and else as it was."""
    return _without(value, _compiled(known))


@lru_cache(maxsize=64)
def _compiled(known: frozenset[str]) -> _Known:
    return _Known(known)


def _without(value: object, known: _Known, depth: int = 0) -> object:
    if isinstance(value, str):
        return known(value)
    if isinstance(value, Mapping):
        inside = value.items() if depth <= DEPTH else ()
        return {known(name) if isinstance(name, str) else name: _without(item, known, depth + 1) for name, item in inside}
    if isinstance(value, list | tuple):
        return [_without(item, known, depth + 1) for item in (value if depth <= DEPTH else ())]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if known(str(value)) == str(value) else MASK
    return value


def secrets_in(value: object) -> frozenset[str]:
    """The secrets that a JSON value holds under their names, so that they can be masked where they are said without."""
    found: set[str] = set()
    _gather(value, found, hidden=False)
    return frozenset(found - {MASK, ""})


def _flat(value: dict[object, object]) -> dict[object, object] | None:
    """A copy of an object of plain values without a secret, which most are and which takes one look; None for any other."""
    texts: list[str] = []
    for name, item in value.items():
        if type(name) is not str or name in _LABELS or is_secret(name):
            return None
        kind = type(item)
        if kind is str:
            texts.append(item)  # type: ignore[arg-type]
        elif kind not in _BARE_KINDS:
            return None
    return dict(value) if _is_plain("\n".join(texts)) else None


class _Known:
    """Masks the known secrets: long ones anywhere and in other spellings, short ones only where they stand as a word."""

    def __init__(self, secrets: frozenset[str]) -> None:
        spelt = {form for secret in secrets if secret.strip() and secret not in MASK for form in _spellings(secret)}
        longest_first = sorted(spelt, key=len, reverse=True)
        parts = [re.escape(secret) if len(secret) > 3 else rf"(?<!\w){re.escape(secret)}(?!\w)" for secret in longest_first]
        self._pattern = re.compile("|".join(parts)) if parts else None

    def __call__(self, text: str) -> str:
        return self._pattern.sub(MASK, text) if self._pattern else text


def _spellings(secret: str) -> set[str]:
    """How a secret is written in JSON, in JSON within JSON, as a literal, and in an address; most are written as they are."""
    if len(secret) <= 3 or (secret.isascii() and secret.isalnum()):
        return {secret}
    plain = secret.encode(errors="replace")
    in_json = {json.dumps(secret, ensure_ascii=ascii_)[1:-1] for ascii_ in (True, False)}
    within = {json.dumps(form, ensure_ascii=ascii_)[1:-1] for form in in_json for ascii_ in (True, False)}
    return {secret, repr(secret)[1:-1], quote(plain), quote(plain, safe=""), quote_plus(plain), *in_json, *within}


_NONE = _Known(frozenset())


def _masked(value: object, known: _Known, *, hidden: bool, depth: int = 0) -> object:
    if isinstance(value, str):
        if hidden:
            return MASK if value else value
        return _by_shape(known(value) if known is not _NONE else value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return MASK if hidden or known(str(value)) != str(value) else value
    if depth > DEPTH:
        return MASK
    if isinstance(value, Mapping):
        return {name: _masked(item, known, hidden=hidden or under, depth=depth + 1) for name, item, under in _members(value)}
    if isinstance(value, list | tuple):
        return [_masked(item, known, hidden=hidden or under, depth=depth + 1) for item, under in _items(value)]
    return value


def _gather(value: object, found: set[str], *, hidden: bool, depth: int = 0) -> None:
    if depth > DEPTH:
        return
    if isinstance(value, Mapping):
        for _, item, under in _members(value):
            _gather(item, found, hidden=hidden or under, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for item, under in _items(value):
            _gather(item, found, hidden=hidden or under, depth=depth + 1)
    elif hidden and isinstance(value, str | int | float) and not isinstance(value, bool):
        found.add(str(value))


def _members(value: Mapping[object, object]) -> list[tuple[object, object, bool]]:
    """Name, item, and whether the item is a secret: by its own name, or by one that stands beside it as a label."""
    labelled = not _LABELS.isdisjoint(value) and any(
        isinstance(label := value.get(name), str) and is_secret(label) for name in _LABELS
    )
    members = []
    for name, item in value.items():
        under = isinstance(name, str) and (is_secret(name) or (labelled and name.lower() in _HELD))
        members.append((name, item, under and not _is_amount(name, item)))
    return members


def _is_amount(name: object, value: object) -> bool:
    """Whether it is a number of tokens, which is no token."""
    return str(name).lower().endswith("tokens") and (
        isinstance(value, int | float) or (isinstance(value, str) and value.isdigit())
    )


def _items(value: Sequence[object]) -> list[tuple[object, bool]]:
    """Each item, and whether it is a secret by the one before: a flag such as `--password`, or a pair of name and value."""
    items: list[tuple[object, bool]] = []
    before: object = None
    for item in value:
        named = isinstance(before, str) and len(before) < 80 and (before.startswith("-") or len(value) == 2)
        items.append((item, named and "=" not in str(before) and is_secret(str(before))))
        before = item
    return items


_PEM = re.compile(r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----)[\s\S]*?(?=-----END |\Z)")
_USERINFO = re.compile(r"(?<=://)[^\s/?#\"'<>]*@")
_NAME = re.compile(
    r"""(?<![\w.\-])-{0,2}(?P<name>[^\W\d][\w.\-]*+)  # apiKey, --password, telegram.token
        (?:\\*["']?[\])]?\s{0,3}(?:=>|:=|==?|:(?!:))\s{0,3}|(?<=[^\W\d])(?P<gap>[ ]))""",
    re.VERBOSE,
)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Bot)[ ]+(?=\S)", re.IGNORECASE)
_QUOTED = re.compile(r"(?P<escape>\\*)(?P<quote>[\"'])(?P<secret>(?:\\.|[^\\\n])*?)(?:(?P=escape)(?P=quote)|(?=\n)|\Z)")
_BARE = re.compile(r"(?P<secret>(?:[^\s\"'`<>&,;]|[&,;](?![\w.\-\[\]]*+[=:]|\s|\Z))+)")
_LINE = re.compile(r"(?P<secret>[^\n\"']+)")
_NOTHING = re.compile(r"(?:null|none|true|false|undefined)\b|[{\[(]\s*(?:[\"'{\[]|\Z)", re.IGNORECASE)
_PROSE = re.compile(
    r"""\b(?:password|passcode|passphrase|pin(?:[ ]code)?|token|secret|api[ -]?key|otp|passwort|kennwort)
        [ ]+(?:is|was|to|ist)[ ]+["']?(?=[^\s"']{0,80}?\d)(?P<secret>[^\s"']++)""",
    re.VERBOSE | re.IGNORECASE,
)
_SHAPE = re.compile(
    r"""(?<![A-Za-z0-9_\-])(?:
        eyJ[\w\-]{5,}+\.[\w\-]++(?:\.[\w\-]*+)?                 # JSON web token
        | (?:sk|pk|rk)[\-_](?=[\w\-]{0,200}?\d)[\w\-]{5,}+       # OpenAI, Anthropic, Stripe
        | gh[a-z]_\w{8,}+ | github_pat_\w{8,}+ | glpat-[\w\-]{8,}+
        | xox[a-z]-[\w\-]{8,}+ | xapp-[\w\-]{8,}+
        | A[KS]IA[0-9A-Z]{12,}+ | AIza[\w\-]{20,}+ | ya29\.[\w.\-]{8,}+
        | hf_\w{8,}+ | npm_\w{20,}+ | pypi-[\w\-]{16,}+ | whsec_\w{8,}+ | SG\.[\w\-]{8,}+\.[\w\-]{8,}+
        | \d{6,12}+:[\w\-]{30,}+                                 # Telegram bot
    )
    | (?<=hooks\.slack\.com/services/)[\w/]++
    | (?<=/api/webhooks/)\d++/[\w\-]++""",
    re.VERBOSE,
)
_BEARER = re.compile(
    r"""(?<!\w)((?:Bearer|BEARER)\ ++(?!tokens?\b|auth)|bearer\ ++(?=\S{0,200}?\d)|Basic\ ++(?=[A-Za-z+/]{0,200}?[0-9=]))
        [\w.~+/=\-]++""",
    re.VERBOSE,
)


_SIGNS = (
    *sorted(word for word in _NAMES if not any(other in word for other in _NAMES - {word})),
    *("key", "code", "basic", "://", "?k", "&k", "#k", "-----begin", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "eyj", "glpat"),
    *(
        "github_pat",
        "xox",
        "xapp",
        "akia",
        "asia",
        "aiza",
        "ya29",
        "hf_",
        "npm_",
        "pypi-",
        "whsec",
        "sg.",
        "slack",
        "hook",
        "\\u",
    ),
)
"""One of these stands in every text that holds a secret, apart from what `_RARE` finds."""
_RARE = ("gh[a-z]_", r"\p{Nd}{6}:")
# As a schema, since Rust's engine looks for all of them at once, in a twentieth of the time that `re` or a loop takes.
_SUSPICIOUS = jsonschema_rs.Draft202012Validator(
    {"pattern": "(?i)" + "|".join((*map(re.escape, _SIGNS), *_RARE))}, pattern_options=jsonschema_rs.RegexOptions()
)


def _is_plain(text: str) -> bool:
    """Whether there can be no secret in it: nearly every text, and told quickly."""
    try:
        return not _SUSPICIOUS.is_valid(text)
    except ValueError:  # half a character, which Rust does not read
        return False


def _by_shape(text: str) -> str:
    """The text masked again and again until nothing is left to mask; nearly always that is one round, or two."""
    if _is_plain(text):
        return text
    for _ in range(8):
        masked = _once(text)
        if masked == text:
            break
        text = masked
    return text


def _once(text: str) -> str:
    if text[:1] in "{[":
        text = _as_json(text)
    if "-----BEGIN " in text:
        text = _PEM.sub(rf"\1{MASK}", text)
    if "://" in text:
        text = _USERINFO.sub(f"{MASK}@", text)
    text = _named(text)
    text = _PROSE.sub(_hide, text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    return _SHAPE.sub(MASK, text)


def _hide(found: re.Match[str]) -> str:
    start = found.start("secret") - found.start()
    return found[0][:start] + MASK


def _as_json(text: str) -> str:
    """JSON text masked as the value it is; the text as it was if it is no JSON or holds no secret."""
    try:
        value = unpack(text)
        masked = mask(value)
        return text if masked == value else pack(masked)
    except (ValueError, RecursionError):
        return text


def _named(text: str) -> str:
    """The text with the value masked that follows a secret's name: `key=value`, `"key": "value"`, headers, flags, queries."""
    parts: list[str] = []
    at = 0
    for found in _NAME.finditer(text):
        if found.start() < at or not _names(text, found):
            continue
        inner = _NAME.match(text, found.end())
        if inner and _names(text, inner):
            continue
        value = _value(text, found)
        if value and value["secret"] and not _is_amount(found["name"], value["secret"]):
            parts += text[at : value.start("secret")], MASK
            at = value.end("secret")
    return "".join((*parts, text[at:])) if parts else text


def _names(text: str, found: re.Match[str]) -> bool:
    """Whether the name is a secret's, where it stands; after a mere space only a flag's is."""
    name, start = found["name"], found.start()
    if found["gap"] is not None and not text.startswith("--", start):
        return False
    return is_secret(name) or (name.lower() in _QUERY and start > 0 and text[start - 1] in "?&#")


def _value(text: str, found: re.Match[str]) -> re.Match[str] | None:
    """What stands after the name, as far as it belongs to the secret."""
    at = found.end()
    if quoted := _QUOTED.match(text, at):
        return quoted
    if _NOTHING.match(text, at):
        return None
    scheme = _SCHEME.match(text, at)
    whole = {word.lower() for word in _WORD.findall(found["name"])} & {"authorization", "cookie", "cookies"}
    pattern = _LINE if whole and not scheme else _BARE
    return pattern.match(text, scheme.end() if scheme else at)
