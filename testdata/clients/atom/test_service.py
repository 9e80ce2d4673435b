"""Access policies, service properties and stats: XML before and after ATOM, in two shapes."""

from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

import pytest

import expect
from wire import Client

acl = pytest.mark.operation("TableACL")
properties = pytest.mark.operation("ServiceProperties")
PROPERTIES = "/?restype=service&comp=properties"
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def policies(*given):
    """The document that sets policies; a field that is empty is left out."""
    field = lambda name, value: f"<{name}>{value}</{name}>" if value else ""
    items = "".join(
        f"<SignedIdentifier><Id>{id}</Id><AccessPolicy>{field('Start', start)}{field('Expiry', expiry)}"
        f"{field('Permission', permission)}</AccessPolicy></SignedIdentifier>"
        for id, start, expiry, permission in given
    )
    return f"{DECLARATION}<SignedIdentifiers>{items}</SignedIdentifiers>"


def xml(response):
    """The document of an answer that is no OData: no namespaces, no format, no caching rules."""
    assert (response.status, response.headers["Content-Type"]) == (200, "application/xml"), response.body
    assert "Cache-Control" not in response.headers and "X-Content-Type-Options" not in response.headers
    root = response.xml()
    assert all("{" not in element.tag for element in root.iter())
    return root


def text(root):
    """A document without its declaration, for comparing."""
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


@acl
@pytest.mark.parametrize("version", ["2012-02-12", "2013-08-15", "2014-02-14", "2015-02-21"])
def test_policies(account, table, version):
    client, path = Client(account, version), f"/{table}?comp=acl"
    assert text(xml(client.request("GET", path))) == "<SignedIdentifiers />"
    given = [("empty", "", "", ""), ("letters", "", "", "r"), ("all", "2012-01-01", "2030-01-01T00:00:00+01:00", "raud")]
    expect.empty(client.request("PUT", path, "\ufeff" + policies(*given), Content_Type="application/xml"))
    assert text(xml(client.request("GET", path))) == (
        "<SignedIdentifiers><SignedIdentifier><Id>empty</Id></SignedIdentifier>"
        "<SignedIdentifier><Id>letters</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier>"
        "<SignedIdentifier><Id>all</Id><AccessPolicy><Start>2012-01-01T00:00:00.0000000Z</Start>"
        "<Expiry>2029-12-31T23:00:00.0000000Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier>"
        "</SignedIdentifiers>"
    )
    expect.empty(client.request("HEAD", path), 200)
    expect.empty(client.request("PUT", path, "", Content_Type=None))
    assert text(xml(client.request("GET", path))) == "<SignedIdentifiers />"


@acl
@pytest.mark.parametrize("document", [
    policies(*[(f"p{n}", "", "", "r") for n in range(6)]), policies(("", "", "", "r")), policies(("i" * 65, "", "", "r")),
    policies(("i", "", "", "x")), policies(("i", "yesterday", "", "r")), policies(("i", "", "", "r")) + "<more/>", "<Signed",
], ids=["six", "no id", "long id", "letter", "date", "two roots", "not XML"])
def test_policies_refused(late, table, document):
    response = late.request("PUT", f"/{table}?comp=acl", document, Content_Type="application/xml")
    expect.refused(response, 400, "InvalidXmlDocument", "XML specified is not syntactically valid.")
    assert text(xml(late.request("GET", f"/{table}?comp=acl"))) == "<SignedIdentifiers />"


@acl
def test_policies_of_no_table(late, name):
    expect.refused(late.request("GET", f"/{name}?comp=acl"), 404, "TableNotFound")
    expect.refused(late.request("PUT", f"/{name}?comp=acl", policies(), Content_Type="application/xml"), 404, "TableNotFound")


def metrics(name, enabled, apis, days):
    apis = f"<IncludeAPIs>{apis}</IncludeAPIs>" if enabled == "true" else ""
    return f"<{name}><Version>1.0</Version><Enabled>{enabled}</Enabled>{apis}{retention(days)}</{name}>"


def retention(days):
    kept = f"<Enabled>true</Enabled><Days>{days}</Days>" if days else "<Enabled>false</Enabled>"
    return f"<RetentionPolicy>{kept}</RetentionPolicy>"


def logging(write, days):
    return (
        f"<Logging><Version>1.0</Version><Read>false</Read><Write>{write}</Write><Delete>true</Delete>{retention(days)}</Logging>"
    )


def service(*children):
    return "<StorageServiceProperties>" + "".join(children) + "</StorageServiceProperties>"


CORS = (
    "<Cors><CorsRule><AllowedMethods>GET,MERGE</AllowedMethods><AllowedOrigins>http://a.example</AllowedOrigins>"
    "<AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders /><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors>"
)


@pytest.fixture
def restored(late):
    """The account's properties are one: they are put back as they were."""
    before = text(xml(late.request("GET", PROPERTIES)))
    yield
    expect.empty(late.request("PUT", PROPERTIES, before, Content_Type="application/xml"), 202)
    assert text(xml(late.request("GET", PROPERTIES))) == before


def put(client, document):
    return client.request("PUT", PROPERTIES, DECLARATION + document, Content_Type="application/xml")


@properties
@pytest.mark.parametrize("version", ["2009-09-19", "2011-08-18", "2012-02-12"])
def test_old_shape(account, late, restored, version):
    """One Metrics until 2013-08-15, which is the later HourMetrics."""
    client = Client(account, version)
    document = service(logging("true", 7), metrics("Metrics", "true", "false", 3))
    expect.empty(put(client, document), 202)
    assert text(xml(client.request("GET", PROPERTIES))) == document
    now = xml(late.request("GET", PROPERTIES))
    assert [child.tag for child in now] == ["Logging", "HourMetrics", "MinuteMetrics", "Cors"]
    assert text(now[1]) == metrics("HourMetrics", "true", "false", 3)


@properties
@pytest.mark.parametrize("version", ["2013-08-15", "2015-02-21"])
def test_new_shape(account, restored, version):
    client = Client(account, version)
    hours, minutes = metrics("HourMetrics", "true", "true", 5), metrics("MinuteMetrics", "false", "", None)
    document = service(logging("false", None), hours, minutes, CORS)
    expect.empty(put(client, document), 202)
    assert text(xml(client.request("GET", PROPERTIES))) == document
    expect.empty(put(client, service(logging("true", 1))), 202)  # what is not named stays
    assert text(xml(client.request("GET", PROPERTIES))) == service(logging("true", 1), hours, minutes, CORS)
    expect.empty(put(client, service("<Cors />")), 202)
    assert text(xml(client.request("GET", PROPERTIES))) == service(logging("true", 1), hours, minutes, "<Cors />")


@properties
@pytest.mark.parametrize("document", [
    service(logging("perhaps", 1)), service(logging("true", 366)), service(logging("true", 1).replace("1.0", "9.0")),
    service(metrics("HourMetrics", "true", "", 1)), service(CORS.replace("<ExposedHeaders />", "")), service(CORS)[:-5],
    service("<Cors>" + CORS[6:-7] * 6 + "</Cors>"),
], ids=["boolean", "days", "version", "no IncludeAPIs", "incomplete rule", "not XML", "six rules"])
def test_properties_refused(late, document):
    before = late.request("GET", PROPERTIES).body
    expect.refused(put(late, document), 400, "InvalidXmlDocument")
    assert late.request("GET", PROPERTIES).body == before


@pytest.mark.operation("ServiceStats")
@pytest.mark.parametrize("version", ["2013-08-15", "2015-02-21"])
def test_stats(account, version):
    client, path = Client(account, version), "/?restype=service&comp=stats"
    (replication,) = xml(client.request("GET", path, secondary=True))
    assert [child.tag for child in replication] == ["Status", "LastSyncTime"] and replication[0].text == "live"
    assert parsedate_to_datetime(replication[1].text)
    expect.refused(client.request("GET", path), 400, "InvalidQueryParameterValue")
