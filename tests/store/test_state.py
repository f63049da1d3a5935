"""The plugins' own values, compare-and-swap, and search."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from etui.store import Store

WILD = st.text(st.characters(exclude_categories=()), max_size=20)


def found(store: Store, query: str, prefix: str = "", plugin: str = "notes") -> list[str]:
    return [key for key, _, _ in store.state.search(plugin, prefix, query)]


def test_values_are_kept_by_plugin_and_key_and_versions_count_up(store: Store) -> None:
    assert store.state.get("a", "k") is None
    assert store.state.put("a", "k", {"n": 1}) == 1
    assert store.state.put("a", "k", [None]) == 2
    store.state.put("b", "k", "theirs")
    assert store.state.get("a", "k") == ([None], 2)
    assert store.state.get("b", "k") == ("theirs", 1)
    assert store.state.delete("a", "k")
    assert not store.state.delete("a", "k")
    assert store.state.get("a", "k") is None
    assert store.state.get("b", "k") == ("theirs", 1)


def test_none_is_a_value_too(store: Store) -> None:
    store.state.put("a", "k", None)
    assert store.state.get("a", "k") == (None, 1)


def test_swap_takes_only_the_version_that_was_read(store: Store) -> None:
    assert not store.state.swap("a", "k", "x", 1)
    assert store.state.swap("a", "k", "x", 0)
    assert not store.state.swap("a", "k", "y", 0)
    assert store.state.swap("a", "k", "y", 1)
    assert store.state.get("a", "k") == ("y", 2)


def test_a_version_never_comes_twice_so_swap_cannot_be_fooled(store: Store) -> None:
    store.state.put("a", "k", "old")
    store.state.put("a", "k", "read by somebody")
    _, version = store.state.get("a", "k") or (None, 0)
    store.state.delete("a", "k")
    for _ in range(3):
        assert store.state.put("a", "k", "new") > version
        assert not store.state.swap("a", "k", "lost update", version)
        store.state.clear("a")
    assert store.state.swap("a", "k", "afresh", 0)


def test_keys_are_those_of_the_plugin_that_begin_with_the_prefix(store: Store) -> None:
    for key in ("list/b", "list/a", "list", "listen", "_", "%", "list\U0010ffff", "list/\0x"):
        store.state.put("a", key, 1)
    store.state.put("b", "list/c", 1)
    assert store.state.keys("a", "list/") == ["list/\0x", "list/a", "list/b"]
    assert store.state.keys("a", "list") == ["list", "list/\0x", "list/a", "list/b", "listen", "list\U0010ffff"]
    assert store.state.keys("a", "%") == ["%"]
    assert len(store.state.keys("a")) == 8
    store.state.clear("a")
    assert store.state.keys("a") == []
    assert store.state.keys("b") == ["list/c"]


@given(pairs=st.dictionaries(WILD, st.integers() | WILD), prefix=WILD)
def test_any_key_and_value_is_kept(pairs: dict[str, object], prefix: str) -> None:
    store = Store.open(":memory:")
    for key, value in pairs.items():
        store.state.put("p", key, value)
        kept = store.state.get("p", key)
        assert kept and (kept[0] == value or "\ufffd" in str(kept[0]) or str(kept[0]).isprintable())
    keys = store.state.keys("p")
    assert keys == sorted(keys, key=str.encode)
    assert set(store.state.keys("p", prefix)) <= set(keys)
    store.close()


def test_search_finds_strings_and_titles_and_texts_by_words_and_their_beginnings(store: Store) -> None:
    store.state.put(
        "notes", "n/1", {"title": "Boiler", "text": "Serviced by Müller in März, pressure 1.5 bar", "tags": ["house"]}
    )
    store.state.put("notes", "n/2", "The boiler key hangs in the cellar")
    store.state.put("notes", "n/3", {"text": "nothing of the kind"})
    store.state.put("notes", "count", 3)
    store.state.put("notes", "list", ["boiler"])
    store.state.put("other", "n/4", "boiler")
    assert found(store, "boiler") == ["n/1", "n/2"], "a word in a title counts for more"
    assert found(store, "BOIL") == ["n/1", "n/2"]
    assert found(store, "muller marz") == ["n/1"]
    assert found(store, "boiler cellar") == ["n/2"]
    assert found(store, "boiler", prefix="n/2") == ["n/2"]
    assert found(store, "boiler", plugin="other") == ["n/4"]
    assert found(store, "boiler garden") == []
    ((key, value, snippet),) = store.state.search("notes", "", "cellar")
    assert (key, value, snippet) == ("n/2", "The boiler key hangs in the cellar", "The boiler key hangs in the cellar")
    assert len(store.state.search("notes", "n/", "the", limit=1)) == 1


def test_the_index_follows_every_change(store: Store) -> None:
    store.state.put("notes", "a", "apple")
    store.state.put("notes", "a", "pear")
    assert (found(store, "apple"), found(store, "pear")) == ([], ["a"])
    _, version = store.state.get("notes", "a") or (None, 0)
    assert store.state.swap("notes", "a", {"text": "plum"}, version)
    assert not store.state.swap("notes", "a", "grape", version)
    assert (found(store, "pear"), found(store, "plum"), found(store, "grape")) == ([], ["a"], [])
    store.state.put("notes", "a", 5)
    assert found(store, "plum") == []
    store.state.put("notes", "a", "fig")
    store.state.delete("notes", "a")
    assert found(store, "fig") == []
    store.state.put("notes", "b", "kiwi")
    store.state.clear("notes")
    assert found(store, "kiwi") == []


def test_what_has_no_words_and_no_spaces_is_found_as_it_stands(store: Store) -> None:
    store.state.put("notes", "a", "party 🎉 on friday")
    store.state.put("notes", "b", "買い物に牛乳を加える")
    store.state.put("notes", "c", {"title": "100 %", "text": "x"})
    assert found(store, "🎉") == ["a"]
    assert found(store, "牛乳") == ["b"]
    assert found(store, "%") == ["c"]
    assert found(store, "PARTY 🎉") == ["a"]


def test_operators_and_quotes_are_mere_words(store: Store) -> None:
    store.state.put("notes", "a", 'He said "AND never OR" to O\'Neil: (title NEAR text) -x foo-bar* col:on')
    for query in (
        '"AND',
        "AND",
        "OR",
        "NEAR(",
        "O'Neil",
        "foo-bar",
        "col:on",
        '"said',
        "title:",
        "-x",
        "^he",
        "bar*",
        'a"and',
        "said) OR",
    ):
        assert store.state.search("notes", "", query) is not None
    assert found(store, 'said "AND') == ["a"]
    assert found(store, "foo-bar") == ["a"]
    assert found(store, "O'Neil") == ["a"]
    assert found(store, "xyzzy OR said") == []


@given(query=WILD | st.text("\"*^():-+{}[]'\\ANDORTNEARtitle \0😀é,.", max_size=40), text=WILD)
def test_any_query_may_be_typed_over_any_text(query: str, text: str) -> None:
    store = Store.open(":memory:")
    store.state.put("notes", "k", text)
    for key, _, snippet in store.state.search("notes", "", query):
        assert key == "k"
        snippet.encode()
    store.close()


@given(
    words=st.lists(
        st.text(st.characters(categories=("Ll", "Nd"), max_codepoint=0x17F), min_size=1, max_size=8), min_size=1, max_size=5
    )
)
def test_every_word_of_a_text_finds_it(words: list[str]) -> None:
    store = Store.open(":memory:")
    store.state.put("notes", "k", " ".join(words))
    for word in words:
        assert found(store, word) == ["k"]
        assert found(store, word[:1]) == ["k"]
    assert found(store, " ".join(reversed(words))) == ["k"]
    store.close()


def test_a_very_long_query_and_a_very_long_text_are_no_trouble(store: Store) -> None:
    store.state.put("notes", "k", "word " * 400_000)
    assert found(store, "word " * 100_000) == ["k"]
    assert found(store, "w" * 1_000_000) == []
    ((_, value, snippet),) = store.state.search("notes", "", "word")
    assert isinstance(value, str) and len(value) == 2_000_000
    assert len(snippet) < 200
