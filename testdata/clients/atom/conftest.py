"""Clients and tables for the tests. A test belongs to the operation of its marker, or else of its file's."""

import os
import secrets

import pytest

import atom
from wire import Account, Client

VARIABLE = "EDGETABLE_CONNECTION_STRING"


def pytest_configure(config):
    if not os.environ.get(VARIABLE):
        pytest.exit(f"{VARIABLE} is not set: these tests need a running server", returncode=1)


@pytest.fixture(autouse=True)
def operation(request, record_xml_attribute):
    """Gives the test the name that the conformance report goes by."""
    name = request.node.get_closest_marker("operation").args[0]
    record_xml_attribute("name", f"{name}: {request.node.name.removeprefix('test_').replace('_', ' ')}")


@pytest.fixture(scope="session")
def account():
    return Account(os.environ[VARIABLE])


@pytest.fixture(scope="session")
def old(account):
    """What most applications of 2009 to 2011 used."""
    return Client(account, "2009-09-19")


@pytest.fixture(scope="session")
def middle(account):
    """The first version with upserts and projection."""
    return Client(account, "2011-08-18")


@pytest.fixture(scope="session")
def late(account):
    """The last versions that have ATOM have JSON as well."""
    return Client(account, "2015-02-21")


@pytest.fixture
def name(late):
    """A table name nobody else uses; if the test leaves such a table, it goes."""
    chosen = "At" + secrets.token_hex(10)
    yield chosen
    late.request("DELETE", f"/Tables('{chosen}')")


@pytest.fixture
def table(late, name):
    assert late.request("POST", "/Tables", atom.table(name)).status == 201
    return name
