"""Signatures for a range of keys: queries see only what is in it, everything else outside is refused."""

import secrets

import pytest

from account import table_sas
from expect import keyed, refused, rows


@pytest.fixture(scope="module")
def grid(service):
    """Three partitions of three rows, which are named by both so that a list of rows tells them apart."""
    name = "Py" + secrets.token_hex(10)
    table = service.create_table(name)
    for partition in ("p1", "p2", "p3"):
        table.submit_transaction([("create", keyed(f"{row}{partition}", partition)) for row in ("r1", "r2", "r3")])
    yield table
    service.delete_table(name)


QUERIES = {
    "a partition": ({"start_pk": "p2", "end_pk": "p2"}, "r1p2 r2p2 r3p2"),
    "from a partition": ({"start_pk": "p3"}, "r1p3 r2p3 r3p3"),
    "from a row on": ({"start_pk": "p2", "start_rk": "r3p2"}, "r3p2 r1p3 r2p3 r3p3"),
    "up to a row": ({"end_pk": "p1", "end_rk": "r2p1"}, "r1p1 r2p1"),
    "between rows": ({"start_pk": "p1", "start_rk": "r3p1", "end_pk": "p2", "end_rk": "r1p2"}, "r3p1 r1p2"),
    "one row": ({"start_pk": "p2", "start_rk": "r2p2", "end_pk": "p2", "end_rk": "r2p2"}, "r2p2"),
    "nothing": ({"start_pk": "p4"}, ""),
    "the wrong way round": ({"start_pk": "p3", "end_pk": "p1"}, ""),
}


@pytest.mark.parametrize("bounds, expected", QUERIES.values(), ids=QUERIES.keys())
def test_query(by, grid, bounds, expected):
    table = by(table_sas(grid.table_name, **bounds)).get_table_client(grid.table_name)
    expected = expected.split()
    assert rows(table.list_entities()) == expected
    assert rows(table.list_entities(results_per_page=1)) == expected
    assert rows(table.query_entities("PartitionKey ge 'p2'")) == [row for row in expected if row[2:] >= "p2"]


DEEDS = {
    "get": lambda table, entity: table.get_entity(entity["PartitionKey"], entity["RowKey"]),
    "create": lambda table, entity: table.create_entity({**entity, "RowKey": entity["RowKey"] + "new"}),
    "merge": lambda table, entity: table.update_entity(entity, mode="merge"),
    "replace": lambda table, entity: table.update_entity(entity, mode="replace"),
    "upsert": lambda table, entity: table.upsert_entity(entity),
    "transaction": lambda table, entity: table.submit_transaction([("upsert", entity)]),
    "delete": lambda table, entity: table.delete_entity(entity),
}
INSIDE = {"start_pk": "p2", "start_rk": "r2", "end_pk": "p2", "end_rk": "r5"}
OUTSIDE = (keyed("r1p2", "p2"), keyed("r6", "p2"), keyed("r3p1", "p1"), keyed("r1p3", "p3"))


@pytest.mark.parametrize("name", DEEDS)
def test_outside(by, grid, name):
    table = by(table_sas(grid.table_name, "raud", **INSIDE)).get_table_client(grid.table_name)
    before = rows(grid.list_entities())
    # For a reader, entities outside of the range do not exist.
    expected = (404, "ResourceNotFound") if name == "get" else (403, "AuthorizationFailure")
    for entity in OUTSIDE:
        with refused(*expected):
            DEEDS[name](table, entity)
    assert rows(grid.list_entities()) == before


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS.keys())
def test_inside(by, grid, deed):
    table = by(table_sas(grid.table_name, "raud", **INSIDE)).get_table_client(grid.table_name)
    entity = keyed("r4", "p2")
    grid.upsert_entity(entity)
    deed(table, entity)
    for row in ("r4", "r4new"):
        grid.delete_entity("p2", row)


def test_transaction_partly_outside(by, grid):
    table = by(table_sas(grid.table_name, "raud", **INSIDE)).get_table_client(grid.table_name)
    with refused(403, "AuthorizationFailure") as caught:
        table.submit_transaction([("create", keyed("r4", "p2")), ("update", keyed("r1p2", "p2"))])
    assert caught.value.index == 1
    assert rows(table.list_entities()) == ["r2p2", "r3p2"]
