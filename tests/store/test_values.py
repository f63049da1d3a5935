"""Named values and blobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from etui.store import Store
from etui.store.blobs import Blob

if TYPE_CHECKING:
    from tests.store.conftest import Clock

WILD = st.text(st.characters(exclude_categories=()), max_size=20)


def test_values_are_kept_by_space_and_key(store: Store) -> None:
    store.values.put("switch", "b", False)
    store.values.put("switch", "a", True)
    store.values.put("taught", "a", ["wake me at {time}"])
    store.values.put("switch", "b", None)
    assert store.values.get("taught", "a") == ["wake me at {time}"]
    assert store.values.get("switch", "c") is None
    assert list(store.values.all("switch").items()) == [("a", True), ("b", None)]
    assert store.values.delete("switch", "a")
    assert not store.values.delete("switch", "a")
    assert store.values.all("switch") == {"b": None}
    assert store.values.all("nothing") == {}


def test_a_blob_comes_back_as_it_was_and_the_same_one_has_the_same_id(store: Store, clock: Clock) -> None:
    id = store.blobs.put(b"\x89PNG\0", "image/png", "a.png", chat="c1", call="k1")
    assert store.blobs.put(b"\x89PNG\0", "image/png", "a.png", chat="c2") == id
    assert store.blobs.put(b"\x89PNG\0", "image/png", "b.png") != id
    assert store.blobs.put(b"\x89PNG\0", "text/html", "a.png") != id
    assert store.blobs.get(id) == Blob(id=id, data=b"\x89PNG\0", media_type="image/png", name="a.png", at=clock.now)
    assert store.blobs.get("nothing") is None


@given(data=st.binary(max_size=200), name=WILD, media_type=WILD)
def test_any_bytes_under_any_name_are_kept(data: bytes, name: str, media_type: str) -> None:
    store = Store.open(":memory:")
    blob = store.blobs.get(store.blobs.put(data, media_type, name))
    assert blob and blob.data == data
    blob.name.encode()
    store.close()


def test_eight_megabytes_are_kept(store: Store) -> None:
    data = bytes(range(256)) * 32768
    blob = store.blobs.get(store.blobs.put(data, "image/png"))
    assert blob and blob.data == data
