import os
import re

import pytest
from azure.core.exceptions import ClientAuthenticationError

from expect import keyed, refused


@pytest.fixture
def stranger(connect):
    """A client whose key is base64 like any other, but nobody's."""
    connection = os.environ["EDGETABLE_CONNECTION_STRING"]
    return connect(re.sub("AccountKey=[^;]*", "AccountKey=d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ==", connection))


OPERATIONS = {
    "create": lambda table: table.create_table(),
    "get": lambda table: table.get_entity("p", "r"),
    "update": lambda table: table.update_entity(keyed("r")),
    "upsert": lambda table: table.upsert_entity(keyed("r")),
    "delete entity": lambda table: table.delete_entity("p", "r"),
    "query": lambda table: list(table.query_entities("A eq 1")),
    "transaction": lambda table: table.submit_transaction([("create", keyed("r"))]),
}


@pytest.mark.parametrize("call", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_wrong_key(stranger, table, missing_table, call):
    for name in (table.table_name, missing_table.table_name):  # refused before any look at the table
        with refused(403, "AuthenticationFailed", ClientAuthenticationError):
            call(stranger.get_table_client(name))


def test_wrong_key_create_entity(stranger, table):
    with refused(403, "AuthenticationFailed"):  # here the SDK does not choose the class by the code
        stranger.get_table_client(table.table_name).create_entity(keyed("r"))


def test_wrong_key_service(stranger, name):
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        list(stranger.list_tables())
    with refused(403, "AuthenticationFailed", ClientAuthenticationError):
        stranger.create_table(name)
