import re
from datetime import datetime, timedelta, timezone

import pytest
from azure.data.tables import TableServiceClient

from az import CONNECTION, Failed, az

operation = pytest.mark.operation
ENDPOINT = re.search("TableEndpoint=([^;]*)", CONNECTION)[1]


@operation("CreateTable")
def test_create(name):
    assert az("storage table create -n", name) == {"created": True}
    assert az("storage table create -n", name) == {"created": True}  # az says so whether it was there or not
    with pytest.raises(Failed, match="TableAlreadyExists"):
        az("storage table create --fail-on-exist -n", name)


@operation("CreateTable")
def test_invalid_name():
    with pytest.raises(Failed, match="Storage table names must be alphanumeric"):
        az("storage table create -n", "a-b")


@operation("DeleteTable")
def test_delete(table):
    assert az("storage table delete -n", table) == {"deleted": True}
    assert az("storage table delete -n", table) == {"deleted": False}
    with pytest.raises(Failed, match="The specified resource does not exist"):
        az("storage table delete --fail-not-exist -n", table)


@operation("QueryTables")
def test_exists(name):
    assert az("storage table exists -n", name) == {"exists": False}
    az("storage table create -n", name)
    assert az("storage table exists -n", name) == {"exists": True}


@operation("QueryTables")
def test_list(table):
    assert {"name": table} in az("storage table list")


@operation("TableACL")
def test_policies(table):
    assert az("storage table policy list -t", table) == {}
    az("storage table policy create -n readers --permissions r --expiry 2030-01-01T00:00Z -t", table)
    az("storage table policy create -n all --permissions raud --start 2026-01-01 --expiry 2030-01-01 -t", table)
    assert sorted(az("storage table policy list -t", table)) == ["all", "readers"]
    shown = az("storage table policy show -n all -t", table)
    assert (shown["permission"], shown["start"][:10], shown["expiry"][:10]) == ("raud", "2026-01-01", "2030-01-01")
    az("storage table policy update -n all --permissions ra -t", table)
    assert az("storage table policy show -n all -t", table)["permission"] == "ra"
    az("storage table policy delete -n all -t", table)
    assert list(az("storage table policy list -t", table)) == ["readers"]


def by(token):
    return ["--sas-token", token, "--table-endpoint", ENDPOINT]


def tomorrow():
    return (datetime.now(timezone.utc) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%MZ")


@operation("SAS")
def test_sas(table):
    token = az("storage table generate-sas --permissions ra -n", table, "--expiry", tomorrow())
    keys = ["-t", table, *by(token)]
    az("storage entity insert -e PartitionKey=p RowKey=r A=1", *keys, signed=False)
    assert az("storage entity show --partition-key p --row-key r", *keys, signed=False)["A"] == 1
    with pytest.raises(Failed, match="AuthorizationPermissionMismatch|not authorized"):
        az("storage entity delete --partition-key p --row-key r", *keys, signed=False)
    assert az("storage entity show --partition-key p --row-key r -t", table)["A"] == 1


@operation("SAS")
def test_sas_within_bounds(table):
    for partition in "abc":
        az("storage entity insert -t", table, "-e", f"PartitionKey={partition}", "RowKey=r")
    bounds = ["--start-pk", "b", "--start-rk", "r", "--end-pk", "b", "--end-rk", "r"]
    token = az("storage table generate-sas --permissions r -n", table, "--expiry", tomorrow(), *bounds)
    found = az("storage entity query -t", table, *by(token), signed=False)["items"]
    assert [entity["PartitionKey"] for entity in found] == ["b"]


@operation("SAS")
def test_sas_by_policy(table):
    az("storage table policy create -n readers --permissions r -t", table, "--expiry", tomorrow())
    token = az("storage table generate-sas --policy-name readers -n", table)
    assert az("storage entity query -t", table, *by(token), signed=False)["items"] == []
    az("storage table policy delete -n readers -t", table)
    with pytest.raises(Failed, match="Authentication failure"):
        az("storage entity query -t", table, *by(token), signed=False)


@pytest.fixture
def restored():
    """The account's properties are one: they are put back as they were, for which az has no command."""
    with TableServiceClient.from_connection_string(CONNECTION) as service:
        before = service.get_service_properties()
        yield
        service.set_service_properties(**before)


@operation("CORS")
def test_cors(restored):
    az("storage cors clear --services t")
    az("storage cors add --services t --methods GET PUT --max-age 60 --origins", "http://a.example", "http://b.example")
    (rule,) = az("storage cors list --services t")
    assert (rule["AllowedMethods"], rule["AllowedOrigins"], rule["MaxAgeInSeconds"]) == (
        "GET, PUT", "http://a.example, http://b.example", 60,
    )
    az("storage cors clear --services t")
    assert az("storage cors list --services t") == []


@operation("ServiceProperties")
def test_logging(restored):
    az("storage logging update --services t --log rw --retention 5")
    logged = az("storage logging show --services t")["table"]
    assert (logged["read"], logged["write"], logged["delete"], logged["retentionPolicy"]["days"]) == (True, True, False, 5)
    az("storage logging off --services t")
    assert az("storage logging show --services t")["table"]["write"] is False


@operation("ServiceProperties")
def test_metrics(restored):
    az("storage metrics update --services t --hour true --minute false --api true --retention 7")
    measured = az("storage metrics show --services t")["table"]
    assert (measured["hour"]["enabled"], measured["hour"]["includeApis"], measured["minute"]["enabled"]) == (True, True, False)
