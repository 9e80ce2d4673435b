"""Which format is asked for, which one is sent, and which of them a version knows."""

import json

import pytest

import atom
import expect
from test_entities import add
from wire import Client, key_path

pytestmark = pytest.mark.operation("ATOM")
BEFORE_JSON = ["2009-04-14", "2009-09-19", "2011-08-18", "2012-02-12"]
WITH_BOTH = ["2013-08-15", "2014-02-14", "2015-02-21", "2015-07-08"]
ONLY_JSON = ["2015-12-11", "2019-02-02"]
ACCEPTED = {
    "ADO.NET": "application/atom+xml,application/xml",
    "ATOM": "application/atom+xml",
    "an entry": "application/atom+xml;type=entry",
    "a feed": "application/atom+xml;type=feed;charset=utf-8",
    "XML": "application/xml",
    "weights": "application/atom+xml;q=1.0, application/xml;q=0.5",
    "anything": "*/*",
    "nothing said": None,
}


@pytest.mark.parametrize("accept", ACCEPTED.values(), ids=ACCEPTED.keys())
@pytest.mark.parametrize("version", BEFORE_JSON + WITH_BOTH)
def test_atom(account, table, version, accept):
    client = Client(account, version, Accept=accept)
    add(client, table)
    assert len(expect.feed(client.request("GET", f"/{table}()"), account, table)) == 1
    expect.entry(client.request("GET", key_path(table, "p", "r")), account)
    expect.refused(client.request("GET", key_path(table, "p", "none")), 404, "ResourceNotFound")


@pytest.mark.parametrize("kind", [
    "application/atom+xml", "application/atom+xml;type=entry", "application/atom+xml; charset=utf-8", "application/xml",
])
def test_type_of_a_body(old, account, table, kind):
    response = old.request("POST", f"/{table}", atom.entity("p", "r"), Content_Type=kind)
    expect.entry(response, account, 201)


def test_no_versions_of_data_services(account, table):
    """PHP and Python clients sent no DataServiceVersion."""
    client = Client(account, "2009-09-19", DataServiceVersion=None, MaxDataServiceVersion=None)
    add(client, table)


def test_a_maximum_beyond_the_version(account, table):
    """.NET 4 said 2.0 at most, whatever version of the service its library used."""
    client = Client(account, "2009-09-19", DataServiceVersion="1.0;NetFx", MaxDataServiceVersion="2.0;NetFx")
    add(client, table)
    assert len(expect.feed(client.request("GET", f"/{table}()"), account, table)) == 1


@pytest.mark.parametrize("version", BEFORE_JSON)
def test_json_is_refused(account, table, version):
    client = Client(account, version, Accept="application/json")
    response = client.request("GET", f"/{table}()")
    assert (response.status, response.headers.get("x-ms-error-code", "JsonFormatNotSupported")) == (415, "JsonFormatNotSupported")
    assert b"JsonFormatNotSupported" in response.body
    body = json.dumps({"PartitionKey": "p", "RowKey": "r"})
    client = Client(account, version)
    refused = client.request("POST", f"/{table}", body, Content_Type="application/json")
    expect.refused(refused, 415, "JsonFormatNotSupported")
    assert expect.feed(client.request("GET", f"/{table}()"), account, table) == []


@pytest.mark.parametrize("version", ONLY_JSON)
def test_atom_is_refused(account, late, table, version):
    client = Client(account, version)
    answers = [
        client.request("GET", f"/{table}()"),
        client.request("POST", f"/{table}", atom.entity("p", "r"), Accept="application/json"),
        client.request("POST", "/Tables", atom.table("none" + table), Accept="application/json"),
        client.request("PUT", key_path(table, "p", "r"), atom.entity("p", "r"), Accept="application/json"),
    ]
    for response in answers:
        assert response.status == 415 and b"AtomFormatNotSupported" in response.body
    assert expect.feed(late.request("GET", f"/{table}()"), account, table) == []


@pytest.mark.parametrize("version", WITH_BOTH)
def test_the_answer_may_have_another_format(account, table, version):
    """The format of a body says nothing about that of the answer."""
    client = Client(account, version)
    response = client.request("POST", f"/{table}", atom.entity("p", "a"), Accept="application/json;odata=nometadata")
    assert (response.status, json.loads(response.body)["RowKey"]) == (201, "a")
    body = json.dumps({"PartitionKey": "p", "RowKey": "b"})
    response = client.request("POST", f"/{table}", body, Content_Type="application/json")
    assert expect.entry(response, account, 201).values["RowKey"] == "b"


def test_format_option(late, account, table):
    """$format has precedence over Accept."""
    add(late, table)
    response = late.request("GET", f"/{table}()?$format=application/atom%2Bxml", Accept="application/json")
    assert len(expect.feed(response, account, table)) == 1
    assert json.loads(late.request("GET", f"/{table}()?$format=json").body)["value"][0]["RowKey"] == "r"


# Refused before anybody looks at the format that was asked for; a client of ATOM cannot read JSON all the same.
EARLY = {
    "timeout": ("GET", "/{0}()?timeout=soon", {}, 400, "InvalidQueryParameterValue"),
    "one key": ("GET", "/{0}(PartitionKey='p')", {}, 400, "InvalidInput"),
    "open parenthesis": ("GET", "/{0}(PartitionKey='p'", {}, 400, "InvalidInput"),
    "option": ("GET", "/{0}()?$orderby=RowKey", {}, 501, "NotImplemented"),
    "comp": ("GET", "/{0}?comp=none", {}, 400, "InvalidQueryParameterValue"),
    "verb of a table": ("PUT", "/Tables", {}, 405, "MethodNotAllowed"),
    "tunnel without POST": ("GET", "/{0}()", {"X_HTTP_Method": "MERGE"}, 400, "XMethodNotUsingPost"),
    "tunnel of an unknown verb": ("POST", "/{0}()", {"X_HTTP_Method": "TRACE"}, 400, "XMethodIncorrectValue"),
    "write to the secondary": ("POST", "/{0}", {"secondary": True}, 403, "InsufficientAccountPermissions"),
    "OData version": ("GET", "/{0}()", {"DataServiceVersion": "many", "MaxDataServiceVersion": None}, 400, "InvalidHeaderValue"),
    "batch without boundary": ("POST", "/$batch", {"Content_Type": "multipart/mixed"}, 400, "InvalidInput"),
}


@pytest.mark.operation("Errors")
@pytest.mark.parametrize("method, path, options, status, code", EARLY.values(), ids=EARLY.keys())
def test_refused_early(old, table, method, path, options, status, code):
    body = None if method == "GET" else ""
    expect.refused(old.request(method, path.format(table), body, **options), status, code)


@pytest.mark.operation("Errors")
@pytest.mark.parametrize("version", ["2008-01-01", "new"])
def test_unknown_version(account, version):
    expect.refused(Client(account, version).request("GET", "/Tables"), 400, "InvalidHeaderValue")


@pytest.mark.parametrize("kind", ["text/html", "application/json;odata=verbose"])
def test_no_format(late, table, kind):
    assert late.request("GET", f"/{table}()", Accept=kind).status == 415
    assert late.request("POST", f"/{table}", "<p/>", Content_Type="text/html").status == 415
