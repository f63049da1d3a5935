"""Secrets, hidden by the name they go under and by their shape; names and everything else stay."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from etui.store.redact import MASK, is_secret, mask, mask_text, secrets_in, without

SECRET_NAMES = [
    *(
        "password",
        "Password",
        "PASSWORD",
        "user_password",
        "passwd",
        "db.password",
        "password1",
        "mypassword",
        "passphrase",
        "pw",
    ),
    *("token", "accessToken", "access_token", "ACCESS-TOKEN", "telegram.token", "BOT_TOKEN", "tokens", "idToken"),
    *("secret", "client_secret", "clientSecret", "AWS_SECRET_ACCESS_KEY", "secrets"),
    *(
        "api_key",
        "apiKey",
        "apikey",
        "API-Key",
        "X-Api-Key",
        "openaiApiKey",
        "OPENAI_API_KEY",
        "private_key",
        "sshKey",
        "access_key_1",
    ),
    *("authorization", "Authorization", "auth", "proxy-authorization", "credentials", "cookie", "Set-Cookie"),
    *("pin", "PIN", "cardPin", "pin_code", "otp", "cvv", "jwt", "signature", "Passwort"),
]
OTHER_NAMES = [
    *(
        "user",
        "name",
        "key",
        "keys",
        "monkey",
        "keyboard",
        "spin",
        "pinned",
        "opinion",
        "shipping",
        "author",
        "authority",
        "compass",
    ),
    *(
        "token_count",
        "max_token_count",
        "tokenLimit",
        "password_hint",
        "secretary",
        "pin_required",
        "tokenizer",
        "cookie_policy",
    ),
    *("text", "title", "passenger", "bypass", "tokenize", "key_name", "sort_key", "primaryKey", "", "1", "_"),
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_secrets_name_is_known_however_it_is_written(name: str) -> None:
    assert is_secret(name)
    assert mask({name: "hunter2"}) == {name: MASK}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_no_secrets(name: str) -> None:
    assert not is_secret(name)
    assert mask({name: "plain"}) == {name: "plain"}


def test_values_are_masked_at_any_depth_and_names_stay() -> None:
    value = {"user": "ann", "password": "hunter2", "cfg": {"apiKey": "sk-test-123", "list": [{"token": "t"}]}}
    assert mask(value) == {"user": "ann", "password": MASK, "cfg": {"apiKey": MASK, "list": [{"token": MASK}]}}
    assert mask({"credentials": {"user": "ann", "n": [1, True, None, ""]}}) == {
        "credentials": {"user": MASK, "n": [MASK, True, None, ""]}
    }


def test_amounts_and_answers_are_not_masked() -> None:
    value = {"max_tokens": 100, "tokens": 5, "pin": True, "password": None, "token": ""}
    assert mask(value) == value
    assert mask({"pin": 1234, "token": 1.5}) == {"pin": MASK, "token": MASK}
    assert mask_text("max_tokens=100 and tokens: 7") == "max_tokens=100 and tokens: 7"


def test_a_secret_beside_its_label_is_masked() -> None:
    assert mask(["set", "telegram.token=abc"]) == ["set", f"telegram.token={MASK}"]
    assert mask(["login", "--password", "hunter2", "-v"]) == ["login", "--password", MASK, "-v"]
    assert mask(["Authorization", "abc"]) == ["Authorization", MASK]
    assert mask([{"name": "api_key", "value": "abc"}, {"name": "colour", "value": "red"}]) == [
        {"name": "api_key", "value": MASK},
        {"name": "colour", "value": "red"},
    ]


TEXTS = [
    ("telegram.token=abc", f"telegram.token={MASK}"),
    ("Authorization: Bearer abc", f"Authorization: Bearer {MASK}"),
    ("authorization: bearer abc", f"authorization: bearer {MASK}"),
    ("Authorization: abc def", f"Authorization: {MASK}"),
    ("Authorization: Basic dXNlcjpwdw==", f"Authorization: Basic {MASK}"),
    ("got Bearer abc back", f"got Bearer {MASK} back"),
    ("https://u:pw@host/?key=abc", f"https://{MASK}@host/?key={MASK}"),
    ("https://host/a?x=1&access_token=abc&y=2#top", f"https://host/a?x=1&access_token={MASK}&y=2#top"),
    ("postgresql://u:p@ss@host:5432/db", f"postgresql://{MASK}@host:5432/db"),
    ("redis://:pw@host", f"redis://{MASK}@host"),
    ("--password hunter2 --user ann", f"--password {MASK} --user ann"),
    ("--api-key=abc", f"--api-key={MASK}"),
    ("PASSWORD = 'hun ter2', user='ann'", f"PASSWORD = '{MASK}', user='ann'"),
    ('say "password": "hun\\"ter2" now', f'say "password": "{MASK}" now'),
    ('{\\"password\\": \\"hunter2\\", \\"n\\": 1}', f'{{\\"password\\": \\"{MASK}\\", \\"n\\": 1}}'),
    ("{'token': 't', 'n': 1}", f"{{'token': '{MASK}', 'n': 1}}"),
    ('{"a": {"credentials": {"user": "x"}}}', f'{{"a":{{"credentials":{{"user":"{MASK}"}}}}}}'),
    ("user[password]=hunter2&user[name]=ann", f"user[password]={MASK}&user[name]=ann"),
    ("password=a,b;c&d e", f"password={MASK} e"),
    ("password: token: abc", f"password: token: {MASK}"),
    ("Cookie: a=b; c=d\nHost: x", f"Cookie: {MASK}\nHost: x"),
    ("curl -H 'X-Api-Key: abc' https://h", f"curl -H 'X-Api-Key: {MASK}' https://h"),
    ("pw=x and more", f"pw={MASK} and more"),
    ("my pin is 1234.", f"my pin is {MASK}"),
    ("set the password to hunter2", f"set the password to {MASK}"),
    ("use sk-test-123 here", f"use {MASK} here"),
    ("sk-proj-abcDEF123_456-789", MASK),
    ("ghp_abcdefghij0123456789", MASK),
    ("key AKIAIOSFODNN7EXAMPLE", f"key {MASK}"),
    ("xoxb-123456789-abcdef", MASK),
    ("bot123 at 123456789:AAabcdefghijklmnopqrstuvwxyz0123456", f"bot123 at {MASK}"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", MASK),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nend",
        f"-----BEGIN RSA PRIVATE KEY-----{MASK}-----END RSA PRIVATE KEY-----\nend",
    ),
    ("-----BEGIN PRIVATE KEY-----\ncut sh", f"-----BEGIN PRIVATE KEY-----{MASK}"),
    ('password="never closed', f'password="{MASK}'),
]


@pytest.mark.parametrize(("text", "masked"), TEXTS)
def test_secrets_in_text_are_masked_by_name_and_by_shape(text: str, masked: str) -> None:
    assert mask_text(text) == masked
    assert mask({"note": [text]}) == {"note": [masked]}


@pytest.mark.parametrize(
    "text",
    [
        "job_id required",
        "basic usage of Bearer tokens",
        "The key is under the mat: row 3, key=value pairs work",
        "monkey=1, keyboard: qwerty",
        "https://example.org/path?page=2&q=a#b",
        "mail ann@example.org at 10:30",
        "sk-learn and risk-free",
        "token_count=5 password_hint=dog",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        '{"user": "ann",  "n": [1, 2]}',
        "the password is required",
        "",
    ],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert mask_text(text) == text


def test_a_secret_that_was_given_is_masked_where_it_is_said_without_its_name() -> None:
    arguments = {"password": "hunter2", "list": [{"token": "t"}], "pin": 1234, "max_tokens": 9}
    known = secrets_in(arguments)
    assert known == {"hunter2", "t", "1234"}
    assert mask_text("xhunter2x t tt 1234", known) == f"x{MASK}x {MASK} tt {MASK}"
    assert mask({"n": 1234, "a": ["hunter2"], "b": 5}, known) == {"n": MASK, "a": [MASK], "b": 5}


WORDS = st.text("abcXYZ019", min_size=1, max_size=12)
NAMES = st.sampled_from([*SECRET_NAMES, *OTHER_NAMES])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)
FRAGMENTS = """password token= api_key: " ' \\ = : & ; , ? # @ :// https://u:pw@h/?key= Bearer Basic sk-a1 eyJabcdef . - -- x 1
    { } [ ] ( ) -----BEGIN -----END -----BEGIN•PRIVATE•KEY----- is to pin Cookie: Authorization: ••• {"token":"""
PIECES = st.lists(st.sampled_from([*FRAGMENTS.split(), "-----BEGIN PRIVATE KEY-----", "\n"]) | st.text(max_size=4), max_size=14)


@pytest.mark.parametrize("secret", ['pä"ss w\\ord', "a\nb-c/d=", "漢字パスワード", "p@ss word&1", 'it\'s "so"', "😀-key"])
def test_a_secret_that_was_given_is_masked_in_whatever_spelling_it_is_said(secret: str) -> None:
    known, told = frozenset({secret}), json.dumps({"a": secret, "b": "kept"})
    masked = json.dumps({"a": MASK, "b": "kept"}, ensure_ascii=False)
    assert without(told, known) == masked
    assert without(json.dumps(secret, ensure_ascii=False), known) == f'"{MASK}"'
    assert without(json.dumps({"body": told}), known) == json.dumps({"body": masked}, ensure_ascii=False)
    assert str(without(repr([secret, "kept"]), known)).replace('"', "'") == f"['{MASK}', 'kept']"
    address = f"http://me:{quote(secret)}@x/?k={quote(secret, safe='')}&{urlencode({'k': secret})}"
    assert without(address, known) == f"http://me:{MASK}@x/?k={MASK}&k={MASK}"


@given(PIECES.map("".join) | PIECES.map(" ".join) | st.text())
def test_masking_text_twice_is_masking_it_once(text: str) -> None:
    once = mask_text(text)
    assert mask_text(once) == once


@given(JSON)
def test_masking_a_value_twice_is_masking_it_once_and_its_names_and_shape_stay(value: object) -> None:
    once = mask(value)
    assert mask(once) == once
    assert skeleton(once) == skeleton(value)


def skeleton(value: object) -> object:
    if isinstance(value, dict):
        return {name: skeleton(item) for name, item in value.items()}
    if isinstance(value, list):
        return [skeleton(item) for item in value]
    return None


@given(
    value=JSON,
    name=st.sampled_from(SECRET_NAMES),
    secret=st.text("QWZ789", min_size=8, max_size=20),
    path=st.lists(st.booleans(), max_size=8),
)
def test_no_secret_comes_through_at_any_depth(value: object, name: str, secret: str, path: list[bool]) -> None:
    assume(secret not in json.dumps(value))
    held: object = {name: secret, "beside": value}
    for into_list in path:
        held = [value, held] if into_list else {"in": held, "other": value}
    assert secret not in json.dumps(mask(held))
    assert secret in secrets_in(held)


@given(
    name=st.sampled_from([name for name in SECRET_NAMES if name != "tokens"]),
    join=st.sampled_from(["=", ": ", ":", " = ", '="', "='", '": "', "=>"]),
    secret=st.text("QWZ789!$%*+/^~|", min_size=8, max_size=20),
    around=st.sampled_from(["", " ", "\n", "x ", "?", "&", "(", '{"', ", "]),
)
def test_no_secret_comes_through_as_a_word_with_its_name(name: str, join: str, secret: str, around: str) -> None:
    closing = '"' if join.endswith('"') else "'" if join.endswith("'") else ""
    masked = mask_text(f"say {around}{name}{join}{secret}{closing} now")
    assert secret not in masked
    assert name in masked
    assert "say" in masked


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "://",
        "a@",
        "password=",
        '"password":"',
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "sk-a",
        "a=,",
        "'",
        "\\",
        "a.-",
        "{",
        "[1,",
    ],
)
def test_long_text_of_any_kind_is_masked_in_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert isinstance(mask_text(text), str)
