"""One embedded model for all tests here: its vectors are made once."""

import pytest

from etui.agent.embedded import EmbeddedModel


@pytest.fixture(scope="session")
def model():
    return EmbeddedModel()
