import re
from urllib.parse import unquote

import pytest

import atom
import expect
from test_tables import VERSIONS
from wire import Client, key_path, stale_etag

operation = pytest.mark.operation
KEYS = {
    "plain": ("p", "r"),
    "quotes": ("O'Brien", "''"),
    "markup": ("<p>&amp;", 'a"b>c'),
    "percent": ("100%", "%27"),
    "blanks": (" p ", "r  r"),
    "umlauts": ("Grüße", "Ελλάδα"),
    "astral": ("\U0001f600", "\U00010000"),
    "empty": ("", ""),
}


def stored(client, table, partition="p", row="r"):
    """The entity as it is now, read and checked."""
    return expect.entry(client.request("GET", key_path(table, partition, row)), client.account)


def add(client, table, *properties, row="r"):
    return expect.entry(client.request("POST", f"/{table}", atom.entity("p", row, *properties)), client.account, 201)


@operation("InsertEntity")
@pytest.mark.parametrize("path", ["/{}", "/{}()"])
@pytest.mark.parametrize("version", VERSIONS)
def test_insert(account, table, version, path):
    client = Client(account, version)
    body = atom.entity("p", "r", atom.prop("Name", "x"), atom.prop("Age", "23", "Edm.Int32"))
    response = client.request("POST", path.format(table), body)
    entry = expect.entry(response, account, 201)
    assert response.headers["Location"] == entry.id == f"{account.base}{table}(PartitionKey='p',RowKey='r')"
    assert (entry.term, entry.title) == (f"{account.name}.{table}", table)
    assert entry.own() == {"Name": "x", "Age": "23"} and entry.types["Age"] == "Edm.Int32"
    assert entry.values["Timestamp"] > "2020", "the server's time, not the client's 0001-01-01"
    again = stored(client, table)
    assert (again.id, again.etag, again.values, again.types) == (entry.id, entry.etag, entry.values, entry.types)


@operation("InsertEntity")
def test_expecting_to_continue(old, account, table):
    """The .NET client waited for 100 Continue before it sent a body."""
    response = old.request("POST", f"/{table}", atom.entity("p", "r"), Expect="100-continue")
    expect.entry(response, account, 201)


@operation("InsertEntity")
def test_existing(old, table):
    add(old, table)
    expect.refused(old.request("POST", f"/{table}", atom.entity("p", "r")), 409, "EntityAlreadyExists")


@operation("InsertEntity")
def test_missing_table(old, name):
    expect.refused(old.request("POST", f"/{name}", atom.entity("p", "r")), 404, "TableNotFound")


@operation("InsertEntity")
@pytest.mark.parametrize("preference, status", [("return-no-content", 204), ("return-content", 201)])
def test_preference(late, account, table, preference, status):
    response = late.request("POST", f"/{table}", atom.entity("p", "r"), Prefer=preference)
    assert (response.status, response.headers["Preference-Applied"]) == (status, preference)
    assert bool(response.body) == (status == 201)
    assert response.headers["ETag"] == stored(late, table).etag


@operation("InsertEntity")
@pytest.mark.parametrize("partition, row", KEYS.values(), ids=KEYS.keys())
def test_keys(old, account, table, partition, row):
    entry = expect.entry(old.request("POST", f"/{table}", atom.entity(partition, row)), account, 201)
    assert (entry.values["PartitionKey"], entry.values["RowKey"]) == (partition, row)
    assert stored(old, table, partition, row).etag == entry.etag
    path = entry.id.removeprefix(account.base.rstrip("/"))  # what a client does with a link
    assert expect.entry(old.request("GET", path), account).etag == entry.etag
    expect.empty(old.request("DELETE", path, If_Match=entry.etag))


@operation("GetEntity")
def test_missing(old, table, name):
    expect.refused(old.request("GET", key_path(table, "p", "r")), 404, "ResourceNotFound")
    expect.refused(old.request("GET", key_path("none" + name, "p", "r")), 404, "TableNotFound")


# What an update of {Old: o, Both: o} with {New: n, Both: n} leaves, as the clients said it: with the verb, or tunnelled.
WRITES = {
    "PUT": ("PUT", {}, False),
    "MERGE": ("MERGE", {}, True),
    "POST with PUT": ("POST", {"X_HTTP_Method": "PUT"}, False),
    "POST with MERGE": ("POST", {"X_HTTP_Method": "MERGE"}, True),
}
BY_OPERATION = [
    pytest.param(*write, id=id, marks=operation("MergeEntity" if write[2] else "UpdateEntity"))
    for id, write in WRITES.items()
]


def ticks(etag):
    """The Timestamp in an ETag, to be compared: as text it has no zeros at its end."""
    return re.fullmatch(r"W/\"datetime'(.{19})([.]?)([0-9]{0,7})Z'\"", unquote(etag)).expand(r"\1.\3").ljust(27, "0")


@pytest.mark.parametrize("method, headers, merges", BY_OPERATION)
def test_write(old, account, table, method, headers, merges):
    before = add(old, table, atom.prop("Old", "o"), atom.prop("Both", "o"))
    path = key_path(table, "p", "r")
    body = atom.entity("p", "r", atom.prop("New", "n"), atom.prop("Both", "n"), atom.prop("Old", None), id=before.id)
    etag = before.etag
    for condition in (before.etag, "*"):
        response = expect.empty(old.request(method, path, body, If_Match=condition, **headers))
        assert ticks(response.headers["ETag"]) > ticks(etag)
        etag = response.headers["ETag"]
    after = stored(old, table)
    kept = {"Old": "o"} if merges else {}  # a null in a merge takes nothing away
    assert (after.own(), after.etag) == ({"New": "n", "Both": "n"} | kept, etag)
    stale = old.request(method, path, body, If_Match=stale_etag(), **headers)
    expect.refused(stale, 412, "UpdateConditionNotSatisfied")
    expect.refused(old.request(method, path, body, If_Match="garbage", **headers), 400, "InvalidInput")
    missing = old.request(method, key_path(table, "p", "none"), body, If_Match="*", **headers)
    expect.refused(missing, 404, "ResourceNotFound")
    assert stored(old, table).etag == etag


@operation("UpsertEntity")
@pytest.mark.parametrize("method", ["PUT", "MERGE"])
@pytest.mark.parametrize("version", VERSIONS[1:])
def test_upsert_by_version(account, late, table, version, method):
    """Without If-Match, PUT and MERGE are errors until 2011-08-18 gives them a meaning."""
    client = Client(account, version)
    path, body = key_path(table, "p", "r"), atom.entity("p", "r", atom.prop("A", "1"))
    if version >= "2011-08-18":
        assert expect.empty(client.request(method, path, body)).headers["ETag"] == stored(client, table).etag
        return
    expect.refused(client.request(method, path, body), 400, "InvalidInput")
    expect.refused(late.request("GET", path), 404, "ResourceNotFound")


@operation("UpsertEntity")
@pytest.mark.parametrize("method, kept", [("PUT", {}), ("MERGE", {"Old": "o"})])
def test_upsert_of_existing(middle, table, method, kept):
    add(middle, table, atom.prop("Old", "o"))
    expect.empty(middle.request(method, key_path(table, "p", "r"), atom.entity("p", "r", atom.prop("New", "n"))))
    assert stored(middle, table).own() == {"New": "n"} | kept


@operation("DeleteEntity")
@pytest.mark.parametrize("method, headers", [("DELETE", {}), ("POST", {"X_HTTP_Method": "DELETE"})])
def test_delete(old, table, method, headers):
    entry, path = add(old, table), key_path(table, "p", "r")
    expect.refused(old.request(method, path, If_Match=stale_etag(), **headers), 412, "UpdateConditionNotSatisfied")
    expect.refused(old.request(method, path, **headers), 400, "InvalidInput")
    response = expect.empty(old.request(method, path, If_Match=entry.etag, **headers))
    assert "ETag" not in response.headers
    expect.refused(old.request(method, path, If_Match="*", **headers), 404, "ResourceNotFound")
