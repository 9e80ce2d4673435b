from urllib.parse import quote

import pytest

import atom
import expect
from batch import batch, operation
from test_entities import add
from wire import Client, key_path

pytestmark = pytest.mark.operation("QueryEntities")
ROWS = {
    "a": {"Name": ("apple", "Edm.String"), "Age": ("1", "Edm.Int32"), "When": ("2008-01-01T00:00:00", "Edm.DateTime")},
    "b": {"Name": ("O'Brien", "Edm.String"), "Age": ("2", "Edm.Int32"), "Ok": ("true", "Edm.Boolean")},
    "c": {"Name": ("cherry", "Edm.String"), "Big": ("5000000000", "Edm.Int64"), "Ratio": ("2.5", "Edm.Double")},
    "d": {"Id": ("c9da6455-213d-42c9-9a79-3e9149a57833", "Edm.Guid"), "Data": ("AQID", "Edm.Binary")},
}
FILTERS = {
    "Name eq 'apple'": "a",
    "Name eq 'O''Brien'": "b",
    "(PartitionKey eq 'p') and (RowKey gt 'a')": "bcd",
    "RowKey ge 'b' and RowKey lt 'd'": "bc",
    "Age gt 1": "b",
    "not (Age eq 1)": "bcd",
    "Age ne 1": "b",
    "Ok eq true or Ratio lt 3.0": "bc",
    "Big eq 5000000000L": "c",
    "When ge datetime'2007-12-31T23:59:59.9999999Z'": "a",
    "Id eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'": "d",
    "Data eq binary'010203'": "d",
    "Timestamp gt datetime'2008-01-01T00:00:00Z'": "abcd",
    "Name eq 'none'": "",
}


@pytest.fixture
def fruits(old, table):
    for row, properties in ROWS.items():
        add(old, table, *(atom.prop(name, *value) for name, value in properties.items()), row=row)
    return table


def rows(entries):
    return "".join(entry.values["RowKey"] for entry in entries)


@pytest.mark.parametrize("text, expected", FILTERS.items(), ids=FILTERS.keys())
def test_filter(old, account, fruits, text, expected):
    found = expect.feed(old.request("GET", f"/{fruits}()?$filter={quote(text)}"), account, fruits)
    assert rows(found) == expected


@pytest.mark.parametrize("version", [None, "2009-04-14", "2011-08-18", "2013-08-15", "2015-02-21"])
def test_whole_entities(account, fruits, version):
    client = Client(account, version)
    found = expect.feed(client.request("GET", f"/{fruits}"), account, fruits)
    for entry in found:
        wanted = {name: kind for name, (_, kind) in ROWS[entry.values["RowKey"]].items()}
        assert {name: entry.types[name] for name in entry.own()} == wanted
        assert entry.etag and entry.term == f"{account.name}.{fruits}"
        alone = expect.entry(client.request("GET", key_path(fruits, "p", entry.values["RowKey"])), account)
        assert (alone.id, alone.etag, alone.values) == (entry.id, entry.etag, entry.values)


def test_select(middle, account, fruits):
    """A selected property that an entity lacks is null; keys come only if they are selected, links and ETags always."""
    found = expect.feed(middle.request("GET", f"/{fruits}()?$select=Name,Age"), account, fruits)
    assert [entry.values for entry in found] == [
        {"Name": "apple", "Age": "1"}, {"Name": "O'Brien", "Age": "2"},
        {"Name": "cherry", "Age": None}, {"Name": None, "Age": None},
    ]
    assert found[0].types == {"Name": "Edm.String", "Age": "Edm.Int32"}
    assert all(entry.etag and f"RowKey='{row}'" in entry.id for entry, row in zip(found, "abcd"))


@pytest.mark.operation("GetEntity")
def test_select_of_one(middle, account, fruits):
    one = expect.entry(middle.request("GET", key_path(fruits, "p", "a") + "?$select=RowKey,%20Data"), account)
    assert one.values == {"RowKey": "a", "Data": None}


@pytest.mark.parametrize("client", ["old", "middle"])
def test_pages(request, account, fruits, client):
    client = request.getfixturevalue(client)
    query, found, sizes, token = f"/{fruits}()?$filter=RowKey%20ne%20'b'&$top=2", "", [], ""
    while token is not None:
        response = client.request("GET", query + token)
        page = expect.feed(response, account, fruits)
        found, sizes, token = found + rows(page), sizes + [len(page)], None
        if partition := response.headers.get("x-ms-continuation-NextPartitionKey"):
            row = response.headers["x-ms-continuation-NextRowKey"]
            token = f"&NextPartitionKey={quote(partition, safe='')}&NextRowKey={quote(row, safe='')}"
    assert (found, sizes) == ("acd", [2, 1])


def test_more_than_a_page(old, account, table):
    for hundred in range(11):
        inserts = [
            operation("POST", account.base + table, atom.entity("p", f"{hundred:02}{n:02}")) for n in range(100)
        ]
        body = batch(inserts, "batch_1", "changeset_1")
        assert old.request("POST", "/$batch", body, Content_Type="multipart/mixed; boundary=batch_1").status == 202
    first = old.request("GET", f"/{table}()")
    partition, row = (first.headers[f"x-ms-continuation-Next{key}"] for key in ("PartitionKey", "RowKey"))
    second = old.request("GET", f"/{table}()?NextPartitionKey={partition}&NextRowKey={row}")
    sizes = [len(expect.feed(page, account, table)) for page in (first, second)]
    assert sizes == [1000, 100] and "x-ms-continuation-NextPartitionKey" not in second.headers


def test_empty(old, account, table):
    assert expect.feed(old.request("GET", f"/{table}()"), account, table) == []
    nothing = old.request("GET", f"/{table}()?$filter=PartitionKey%20eq%20'p'%20and%20RowKey%20eq%20'r'")
    assert expect.feed(nothing, account, table) == []


UNUSABLE = {
    "aaa bbb ccc": (400, "InvalidInput"),
    "Age eq": (400, "InvalidInput"),
    "'abc'": (400, "InvalidInput"),
    "startswith(Name,'a')": (501, "NotImplemented"),
}


@pytest.mark.parametrize("text, answer", UNUSABLE.items(), ids=UNUSABLE.keys())
def test_unusable_filter(old, fruits, text, answer):
    expect.refused(old.request("GET", f"/{fruits}()?$filter={quote(text)}"), *answer)


def test_refused(old, name, table):
    expect.refused(old.request("GET", f"/none{name}()"), 404, "TableNotFound")
    expect.refused(old.request("GET", f"/{table}()?$top=1001"), 400, "InvalidInput")
