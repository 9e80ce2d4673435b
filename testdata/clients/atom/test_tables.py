import pytest

import atom
import expect
from wire import Client

VERSIONS = [None, "2009-04-14", "2009-09-19", "2011-08-18", "2012-02-12", "2013-08-15", "2014-02-14", "2015-02-21"]
INVALID = {
    "two letters": ("ab", "OutOfRangeInput"),
    "64 letters": ("a" * 64, "OutOfRangeInput"),
    "dash": ("a-b", "InvalidResourceName"),
    "leading digit": ("1abc", "InvalidResourceName"),
    "reserved": ("Tables", "InvalidInput"),
}


def is_table(entry, account, name):
    assert (entry.id, entry.edit) == (f"{account.base}Tables('{name}')", f"Tables('{name}')")
    assert (entry.term, entry.title, entry.etag) == (f"{account.name}.Tables", "Tables", None)
    assert (entry.values, entry.types) == ({"TableName": name}, {"TableName": atom.STRING})


@pytest.mark.operation("CreateTable")
@pytest.mark.parametrize("scheme", ["SharedKey", "SharedKeyLite"])
@pytest.mark.parametrize("version", VERSIONS)
def test_life_of_a_table(account, name, version, scheme):
    client = Client(account, version, scheme)
    created = client.request("POST", "/Tables", atom.table(name))
    is_table(expect.entry(created, account, 201), account, name)
    assert created.headers["Location"] == f"{account.base}Tables('{name}')"
    is_table(expect.entry(client.request("GET", f"/Tables('{name}')"), account), account, name)
    expect.refused(client.request("POST", "/Tables", atom.table(name.upper())), 409, "TableAlreadyExists")
    expect.empty(client.request("DELETE", f"/Tables('{name}')"))
    expect.refused(client.request("DELETE", f"/Tables('{name}')"), 404, "ResourceNotFound")


@pytest.mark.operation("CreateTable")
@pytest.mark.parametrize("bad, code", INVALID.values(), ids=INVALID.keys())
def test_invalid_name(old, bad, code):
    expect.refused(old.request("POST", "/Tables", atom.table(bad)), 400, code)


@pytest.mark.operation("CreateTable")
def test_without_a_name(old):
    expect.refused(old.request("POST", "/Tables", atom.entry()), 400, "PropertiesNeedValue")
    expect.refused(old.request("POST", "/Tables", atom.entry(atom.prop("TableName", None))), 400, "PropertiesNeedValue")


@pytest.mark.operation("CreateTable")
@pytest.mark.parametrize("preference, status", [("return-no-content", 204), ("return-content", 201)])
def test_preference(late, account, name, preference, status):
    """Prefer came with 2013-08-15, when ATOM was still the default."""
    response = late.request("POST", "/Tables", atom.table(name), Prefer=preference)
    assert (response.status, response.headers["Preference-Applied"]) == (status, preference)
    assert response.headers["Location"] == f"{account.base}Tables('{name}')"
    if status == 204:
        assert response.headers["DataServiceId"] == response.headers["Location"] and not response.body
    else:
        is_table(expect.entry(response, account, 201), account, name)


@pytest.mark.operation("DeleteTable")
def test_tunnelled(old, table):
    """As clients behind a proxy did that lets only GET and POST through."""
    expect.empty(old.request("POST", f"/Tables('{table}')", X_HTTP_Method="DELETE"))
    expect.refused(old.request("POST", f"/Tables('{table}')", X_HTTP_Method="DELETE"), 404, "ResourceNotFound")


@pytest.mark.operation("DeleteTable")
def test_with_the_type_of_no_body(old, table):
    """The .NET client named the type of a body even where it sent none, and signed it."""
    expect.empty(old.variant(scheme="SharedKey").request("DELETE", f"/Tables('{table}')", Content_Type="application/atom+xml"))


@pytest.mark.operation("GetTable")
def test_no_such_table(old, name):
    expect.refused(old.request("GET", f"/Tables('{name}')"), 404, "ResourceNotFound")


@pytest.mark.operation("QueryTables")
@pytest.mark.parametrize("version", VERSIONS)
def test_filter_that_finds_one(account, table, version):
    client = Client(account, version)
    found = expect.feed(client.request("GET", f"/Tables()?$filter=TableName%20eq%20'{table}'"), account, "Tables")
    assert len(found) == 1
    is_table(found[0], account, table)


@pytest.mark.operation("QueryTables")
def test_filter_that_finds_none(old, account):
    assert expect.feed(old.request("GET", "/Tables?$filter=TableName%20eq%20'zz'"), account, "Tables") == []


@pytest.mark.operation("QueryTables")
def test_pages(old, account, name):
    names = [name[:20] + letter for letter in "abcde"]
    for each in names:
        assert old.request("POST", "/Tables", atom.table(each)).status == 201
    query = f"/Tables?$filter=TableName%20ge%20'{name[:20]}a'%20and%20TableName%20le%20'{name[:20]}e'&$top=2"
    found, token, pages = [], "", 0
    while token is not None:
        response = old.request("GET", query + token)
        found += [entry.values["TableName"] for entry in expect.feed(response, account, "Tables")]
        following = response.headers.get("x-ms-continuation-NextTableName")
        token, pages = following and f"&NextTableName={following}", pages + 1
    assert (found, pages) == (names, 3)
    for each in names:
        expect.empty(old.request("DELETE", f"/Tables('{each}')"))
