"""Tables for the tests. A test belongs to the operation of its marker, or else of its file's."""

import os
import secrets
import shutil

import pytest

if not os.environ.get("EDGETABLE_CONNECTION_STRING"):
    pytest.exit("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server", returncode=1)

from az import az  # noqa: E402


@pytest.fixture(autouse=True)
def operation(request, record_xml_attribute):
    """Gives the test the name that the conformance report goes by."""
    name = request.node.get_closest_marker("operation").args[0]
    record_xml_attribute("name", f"{name}: {request.node.name.removeprefix('test_').replace('_', ' ')}")


@pytest.fixture
def name():
    """A table name nobody else uses; if the test leaves such a table, it goes."""
    chosen = "Az" + secrets.token_hex(10)
    yield chosen
    az("storage table delete -n", chosen)


@pytest.fixture
def table(name):
    assert az("storage table create -n", name) == {"created": True}
    return name


def pytest_unconfigure():
    shutil.rmtree(os.environ["AZURE_CONFIG_DIR"], ignore_errors=True)
