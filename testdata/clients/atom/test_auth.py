from email.utils import formatdate
from time import time
from urllib.parse import quote

import pytest

import atom
import expect
from test_entities import add, stored
from test_service import policies
from wire import Client, key_path, utc

pytestmark = pytest.mark.operation("Errors")


@pytest.mark.operation("ATOM")
@pytest.mark.parametrize("date", ["Date", "x-ms-date"])
@pytest.mark.parametrize("scheme", ["SharedKey", "SharedKeyLite"])
def test_signatures(account, table, scheme, date):
    client = Client(account, "2009-09-19", scheme, date)
    add(client, table, row="a'b c")
    path, body = key_path(table, "p", "a'b c"), atom.entity("p", "a'b c")
    expect.empty(client.request("PUT", path, body, If_Match="*", Content_MD5="Q2hlY2sgSW50ZWdyaXR5IQ=="))
    expect.empty(client.request("POST", path, body, If_Match="*", X_HTTP_Method="MERGE"))
    assert len(expect.feed(client.request("GET", f"/{table}()?$top=5&timeout=30"), account, table)) == 1
    expect.empty(client.request("DELETE", path, If_Match="*"))


def test_both_dates(old, table):
    """x-ms-date is there because something on the way rewrites Date, so it is the one that is signed."""
    rewritten = formatdate(time() - 3600, usegmt=True)
    assert old.request("GET", f"/{table}()", Date=rewritten).status == 200


@pytest.mark.parametrize("version", [None, "2009-09-19", "2015-02-21"])
def test_wrong_key(account, table, version):
    client = Client(account, version)
    for path in ("/Tables", f"/{table}()", "/nosuchtable()"):
        expect.refused(client.request("GET", path, Authorization=f"SharedKeyLite {account.name}:c2ln"), 403, "AuthenticationFailed")


def test_wrong_dates(old, table):
    for date in (formatdate(time() - 3600, usegmt=True), formatdate(time() + 3600, usegmt=True), "yesterday"):
        expect.refused(old.request("GET", f"/{table}()", **{"x-ms-date": date}), 403, "AuthenticationFailed")


def test_garbled(old, table):
    expect.refused(old.request("GET", f"/{table}()", Authorization="SharedKeyLite"), 400, "InvalidAuthenticationInfo")


def sas(account, table, version, **fields):
    """The query string of a table's signature, by the layout of its version."""
    f = {"sp": "raud", "st": "", "se": utc(3600), "si": "", "spk": "", "srk": "", "epk": "", "erk": ""} | fields
    prefix = "/table/" if version >= "2015-02-21" else "/"
    lines = [f["sp"], f["st"], f["se"], f"{prefix}{account.name}/{table.lower()}", f["si"]]
    if version >= "2015-04-05":
        lines += ["", ""]
    lines += [version, f["spk"], f["srk"], f["epk"], f["erk"]]
    f |= {"sv": version, "tn": table, "sig": account.mac("\n".join(lines))}
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in f.items() if value)


SIGNED = ["2012-02-12", "2013-08-15", "2014-02-14", "2015-02-21"]


@pytest.mark.operation("SAS")
@pytest.mark.parametrize("version", SIGNED)
def test_sas(account, table, version):
    """Before 2014-02-14 there was no version but the signature's."""
    client = Client(account, version if version >= "2014-02-14" else None, scheme=None)
    token, path = sas(account, table, version), key_path(table, "p", "r")
    assert client.request("POST", f"/{table}?{token}", atom.entity("p", "r", atom.prop("A", "x"))).status == 201
    (entry,) = expect.feed(client.request("GET", f"/{table}()?{token}"), account, table)
    assert entry.own() == {"A": "x"}
    assert expect.entry(client.request("GET", f"{path}?{token}"), account).etag == entry.etag
    expect.empty(client.request("MERGE", f"{path}?{token}", atom.entity("p", "r"), If_Match="*"))
    expect.empty(client.request("DELETE", f"{path}?{token}", If_Match="*"))


@pytest.mark.operation("SAS")
@pytest.mark.parametrize("version", SIGNED)
def test_sas_within_bounds(old, account, table, version):
    for partition in "abc":
        assert old.request("POST", f"/{table}", atom.entity(partition, "r")).status == 201
    client = Client(account, None, scheme=None)
    token = sas(account, table, version, sp="r", spk="b", srk="r", epk="b", erk="r")
    (entry,) = expect.feed(client.request("GET", f"/{table}()?{token}"), account, table)
    assert entry.values["PartitionKey"] == "b"
    assert client.request("GET", f"{key_path(table, 'a', 'r')}?{token}").status in (403, 404)
    assert client.request("POST", f"/{table}?{token}", atom.entity("b", "s")).status == 403


@pytest.mark.operation("SAS")
def test_sas_refused(account, table):
    client = Client(account, None, scheme=None)
    ask = lambda token: client.request("GET", f"/{table}()?{token}")
    expect.refused(ask(sas(account, table, "2011-08-18")), 403, "AuthenticationFailed")
    expect.refused(ask(sas(account, table, "2012-02-12", se=utc(-60))), 403, "AuthenticationFailed")
    expect.refused(ask(sas(account, table, "2012-02-12").replace("sp=raud", "sp=r")), 403, "AuthenticationFailed")
    expect.refused(ask(sas(account, table, "2012-02-12", si="nobody", sp="", se="")), 403, "AuthenticationFailed")


@pytest.mark.operation("SAS")
def test_sas_by_policy(account, late, table):
    written = policies(("readers", "", utc(3600), "r"))
    expect.empty(late.request("PUT", f"/{table}?comp=acl", written, Content_Type="application/xml"))
    client, token = Client(account, None, scheme=None), sas(account, table, "2012-02-12", si="readers", sp="", se="")
    add(late, table)
    assert len(expect.feed(client.request("GET", f"/{table}()?{token}"), account, table)) == 1
    assert client.request("POST", f"/{table}?{token}", atom.entity("p", "s")).status == 403
    expect.empty(late.request("PUT", f"/{table}?comp=acl", policies(), Content_Type="application/xml"))
    expect.refused(client.request("GET", f"/{table}()?{token}"), 403, "AuthenticationFailed")
    assert stored(late, table).own() == {}
