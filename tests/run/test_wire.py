"""Frames and messages: what goes in comes out, and nothing that comes from outside does anything but raise WireError."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import socket
import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.contracts import Caller, Files, Ran
from etui.errors import WireError
from etui.outcome import Status
from etui.run import wire
from etui.run.answer import answer
from etui.run.channel import Channel

texts = st.text(st.characters(codec=None))
"""Any text, lone surrogates included."""
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def strict(text: str) -> object:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


@given(values)
def test_any_value_becomes_json_that_any_reader_takes(value):
    data = wire.to_json(value)
    assert strict(data.decode()) == wire.from_json(data)


@given(values)
def test_json_values_come_through_unchanged(value):
    once = wire.from_json(wire.to_json(value))
    assert wire.from_json(wire.to_json(once)) == once


@given(st.binary(max_size=200))
def test_garbage_is_a_wire_error_and_nothing_else(data):
    for read in (wire.for_host, wire.for_worker, wire.from_json):
        try:
            read(data)
        except WireError as error:
            assert str(error)


@given(texts, st.binary(max_size=50))
def test_a_message_comes_through_with_its_surrogates_replaced(text, data):
    frame = wire.frame(wire.Done(7, "ok", data, text))
    assert wire.size_of(frame) == len(frame) - wire.HEADER
    got = wire.for_host(bytes(frame[wire.HEADER :]))
    assert isinstance(got, wire.Done)
    assert (got.id, got.data, got.text) == (7, data, text.encode("utf-8", "replace").decode())


def test_every_message_comes_through():
    files = Files(plugin="p", source="s", contract="c", path="/p.py", files=("/p.py",))
    to_worker = [
        wire.Load(files, ""),
        wire.Invoke(1, "c", "t", b"{}", Caller()),
        wire.Invoke(2, "", "t", b"{}", Caller(), check=True),
        wire.Cancel(1),
        wire.Reply(1, b"1", ""),
        wire.Stop(),
    ]
    for message in to_worker:
        assert wire.for_worker(bytes(wire.frame(message)[wire.HEADER :])) == message
    to_host = [wire.Said(1, "x"), wire.Progress(1, 0.5, "x"), wire.Request(1, 2, "s", b"{}")]
    for message in to_host:
        assert wire.for_host(bytes(wire.frame(message)[wire.HEADER :])) == message


def test_the_host_takes_no_message_that_is_for_workers():
    with pytest.raises(WireError):
        wire.for_host(bytes(wire.frame(wire.Stop())[wire.HEADER :]))


def test_a_length_beyond_the_limit_is_refused():
    assert wire.size_of(struct.pack(">I", wire.LIMIT)) == wire.LIMIT
    for size in (wire.LIMIT + 1, 0xFFFFFFFF):
        with pytest.raises(WireError, match=str(size)):
            wire.size_of(struct.pack(">I", size))


def test_a_message_beyond_the_limit_is_not_sent():
    with pytest.raises(WireError, match="8 MB"):
        wire.frame(wire.Said(1, "x" * wire.LIMIT))


@pytest.mark.parametrize("levels", [wire.DEEPEST, wire.DEEPEST + 1, 500, 5000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_nesting_is_limited_both_ways(levels, brackets):
    one = (lambda inner: [inner]) if brackets == "[]" else (lambda inner: {"k": inner})
    value: object = [] if brackets == "[]" else {}
    for _ in range(levels - 1):
        value = one(value)
    opening = "[" if brackets == "[]" else '{"k":'
    text = (opening * levels + ("null" if brackets == "{}" else "") + brackets[1] * levels).encode()
    if levels <= wire.DEEPEST:
        assert wire.from_json(wire.to_json(value)) == value
        assert wire.from_json(text) is not None
    else:
        with pytest.raises(WireError, match="nested"):
            wire.to_json(value)
        with pytest.raises(WireError, match="nested"):
            wire.from_json(text)


def test_wide_is_not_deep():
    value = [[number] for number in range(1000)] + [{"a": [{}]}] * 100
    assert wire.from_json(wire.to_json(value)) == value


@pytest.mark.parametrize("text", [b"NaN", b"Infinity", b"1e999", b'"\\ud800"', b"\xff", b"", b"1 2", b"9" * 5000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(WireError):
        wire.from_json(text)


def test_a_value_that_holds_itself_is_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(WireError):
        wire.to_json(value)


def test_what_a_contract_gives_is_an_answer_whatever_it_is():
    assert answer(1, "text").error == "TypeError"
    done = answer(1, Ran(status=Status.OK, data={"x": math.inf}))
    assert done.data == b'{"x":null}'
    assert answer(1, Ran(status=Status.TIMED_OUT)).status == "failed"
    assert answer(1, Ran(status=Status.OK, data={1, 2}.__iter__())).status == "failed"
    assert msgspec.json.decode(answer(1, Ran(status=Status.OK, data={3})).data) == [3]


async def pair() -> tuple[socket.socket, Channel, list[bytes], list[str]]:
    frames: list[bytes] = []
    lost: list[str] = []
    mine, its = socket.socketpair()
    return its, Channel(asyncio.get_running_loop(), mine, frames.append, lost.append), frames, lost


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0)


async def test_frames_arrive_whole_however_they_are_cut():
    its, _, frames, lost = await pair()
    sent = [b"", b"a", b"bc" * 40000, b"d" * 300, b"e" * 1_000_000]
    stream = b"".join(struct.pack(">I", len(data)) + data for data in sent)
    its.setblocking(False)
    sizes = [1, 2, 1, 3, 70000, 5, 100, 200000]
    turn = 0
    while stream:
        with contextlib.suppress(BlockingIOError):
            stream = stream[its.send(stream[: sizes[turn % len(sizes)]]) :]
        turn += 1
        await asyncio.sleep(0)
    await until(lambda: len(frames) == len(sent))
    assert frames == sent
    its.close()
    await until(lambda: lost)
    assert lost == ["it closed its channel or was killed"]


async def test_what_the_other_end_does_not_take_yet_is_sent_later():
    its, channel, _, lost = await pair()
    frames = [wire.frame(wire.Said(number, "x" * 500_000)) for number in range(6)]
    for frame in frames:
        channel.send(frame)
    got = bytearray()
    its.setblocking(False)
    while len(got) < sum(map(len, frames)):
        try:
            got += its.recv(1 << 20)
        except BlockingIOError:
            await asyncio.sleep(0)
    assert got == b"".join(frames)
    channel.close()
    channel.send(frames[0])
    its.close()
    assert lost == []


async def test_a_paused_channel_reads_nothing():
    its, channel, frames, _ = await pair()
    channel.pause()
    its.sendall(struct.pack(">I", 1) + b"a")
    for _ in range(5):
        await asyncio.sleep(0)
    assert frames == []
    channel.resume()
    await until(lambda: frames)
    channel.close()
    its.close()


async def test_a_breach_is_told_once_and_nothing_after_it_is_heard():
    its, _, frames, lost = await pair()
    its.sendall(struct.pack(">I", 1) + b"a" + b"\xff\xff\xff\xff" + struct.pack(">I", 1) + b"b")
    await until(lambda: lost)
    assert (frames, lost) == ([b"a"], ["it announced a message of 4294967295 bytes"])
    its.close()
