"""What a program meets that leaves retries to the SDK: as many as by default, but without the long delays."""

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ServiceRequestError, ServiceResponseError

from expect import keyed, refused, rows
from program import serve


@pytest.fixture
def failing(adopt):
    """Returns a function that gives the table "orders", with the entity ("p", "there"), of a server that fails by rules."""
    servers = []

    def start(*rules):
        servers.append(serve(*(f"--chaos={rule}" for rule in rules)))
        connection = servers[-1].__enter__()
        service = adopt(lambda kind: kind.from_connection_string(connection, retry_backoff_factor=0.001))
        table = service.create_table("orders")
        table.upsert_entity(keyed("there", N=1), mode="merge")  # which no rule below is for
        return table

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def insert(table):
    table.create_entity(keyed("new"))


def transaction(table):
    table.submit_transaction([("create", keyed("new"))])


def delete(table):
    table.delete_entity("p", "there")


def replace(table):
    table.update_entity(keyed("there", N=2), mode="replace")


def query(table):
    return list(table.list_entities())


# The SDK repeats a POST after a 500 and 503, but after a broken connection only what can be done twice.
UNSEEN = {
    "busy": ("operation=InsertEntity count=1 fault=503", insert, ["new", "there"]),
    "broken": ("operation=InsertEntity count=3 fault=500", insert, ["new", "there"]),
    "busy query": ("operation=QueryEntities count=1 fault=503", query, ["there"]),
    "broken transaction": ("operation=EntityGroupTransaction count=2 fault=500", transaction, ["new", "there"]),
    "query reset": ("operation=QueryEntities count=2 fault=reset", query, ["there"]),
    "update reset": ("operation=UpdateEntity count=1 fault=reset", replace, ["there"]),
    "update lost": ("operation=UpdateEntity count=1 fault=lost-reply", replace, ["there"]),
    "delete lost": ("operation=DeleteEntity count=1 fault=lost-reply", delete, []),  # a 404 is success to the SDK
}


@pytest.mark.parametrize("rule, deed, expected", UNSEEN.values(), ids=UNSEEN.keys())
def test_unseen(failing, rule, deed, expected):
    table = failing(rule)
    deed(table)
    assert rows(table.list_entities()) == expected


def test_ends(failing):
    table = failing("operation=InsertEntity fault=500")
    with refused(500, "InternalError"):
        insert(table)
    assert rows(table.list_entities()) == ["there"]


# Done or not: the program has to look.
BROKEN = {
    "insert reset": ("operation=InsertEntity count=1 fault=reset", insert, ["there"]),
    "insert lost": ("operation=InsertEntity count=1 fault=lost-reply", insert, ["new", "there"]),
    "transaction reset": ("operation=EntityGroupTransaction count=1 fault=reset", transaction, ["there"]),
    "transaction lost": ("operation=EntityGroupTransaction count=1 fault=lost-reply", transaction, ["new", "there"]),
}


@pytest.mark.parametrize("rule, deed, expected", BROKEN.values(), ids=BROKEN.keys())
def test_broken_connection(failing, rule, deed, expected):
    table = failing(rule)
    with pytest.raises((ServiceRequestError, ServiceResponseError)):
        deed(table)
    assert rows(table.list_entities()) == expected


def test_condition_meets_its_own_update(failing):
    table = failing("operation=UpdateEntity count=1 fault=lost-reply")
    etag = table.get_entity("p", "there").metadata["etag"]
    with refused(412, "UpdateConditionNotSatisfied"):
        table.update_entity(keyed("there", N=2), mode="replace", etag=etag, match_condition=MatchConditions.IfNotModified)
    assert table.get_entity("p", "there")["N"] == 2
