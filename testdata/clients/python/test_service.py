"""Service properties and stats. The account's properties change and are put back, so no other suite may use the account."""

from datetime import datetime, timedelta, timezone
from urllib.parse import urlsplit

import pytest
from azure.data.tables import TableAnalyticsLogging, TableCorsRule, TableMetrics, TableRetentionPolicy

import account
from account import account_sas
from expect import keyed, refused, rows


def retention(days=None):
    return TableRetentionPolicy(enabled=days is not None, days=days)


def metrics(days=None):
    if days is None:
        return TableMetrics(enabled=False)
    return TableMetrics(enabled=True, include_apis=True, retention_policy=retention(days))


def logging(days=None):
    return TableAnalyticsLogging(read=False, write=True, delete=True, retention_policy=retention(days))


def rule(**options):
    return TableCorsRule(
        **{
            "allowed_origins": ["http://www.example.com", "http://other.example.com"],
            "allowed_methods": ["GET", "PUT", "MERGE"],
            "allowed_headers": ["x-ms-meta-abc", "x-ms-meta-data*"],
            "exposed_headers": ["x-ms-*"],
            "max_age_in_seconds": 500,
            **options,
        }
    )


def plain(value):
    """Models of the SDK as dicts, which compare."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "__dict__"):
        return {key: plain(item) for key, item in vars(value).items() if not key.startswith("_") and key != "additional_properties"}
    return value


BASE = {"analytics_logging": logging(7), "hour_metrics": metrics(5), "minute_metrics": metrics(), "cors": [rule()]}


@pytest.fixture
def original(service):
    found = service.get_service_properties()
    yield found
    service.set_service_properties(**found)


def test_properties_are_complete(original):
    assert set(original) == {"analytics_logging", "hour_metrics", "minute_metrics", "cors"}
    assert [original[part].version for part in ("analytics_logging", "hour_metrics", "minute_metrics")] == ["1.0"] * 3


def test_properties_set_and_get(service, original):
    service.set_service_properties(**BASE)
    assert plain(service.get_service_properties()) == plain(BASE)


PARTS = {
    "logging": {"analytics_logging": logging()},
    "hour metrics": {"hour_metrics": metrics()},
    "minute metrics": {"minute_metrics": metrics(365)},
    "five rules": {"cors": [rule(max_age_in_seconds=age) for age in range(5)]},
    "no headers": {"cors": [rule(allowed_headers=[], exposed_headers=[])]},
    "no rules": {"cors": []},
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS.keys())
def test_properties_left_out_stay(service, original, part):
    service.set_service_properties(**BASE)
    service.set_service_properties(**part)
    assert plain(service.get_service_properties()) == plain({**BASE, **part})


def broken(**values):
    chosen = metrics(5)
    for name, value in values.items():
        setattr(chosen, name, value)
    return {"hour_metrics": chosen}


BROKEN = {
    "nothing": {},
    "six rules": {"cors": [rule()] * 6},
    "a method that is none": {"cors": [rule(allowed_methods=["FETCH"])]},
    "no origin": {"cors": [rule(allowed_origins=[])]},
    "an origin too long": {"cors": [rule(allowed_origins=["http://" + "a" * 257])]},
    "a negative age": {"cors": [rule(max_age_in_seconds=-1)]},
    "366 days": broken(retention_policy=retention(366)),
    "0 days": broken(retention_policy=retention(0)),
    "another version": broken(version="7.0"),
    "enabled, but with which APIs": broken(include_apis=None),
}


@pytest.mark.parametrize("part", BROKEN.values(), ids=BROKEN.keys())
def test_properties_refused(service, original, part):
    service.set_service_properties(**BASE)
    with refused(400, "InvalidXmlDocument"):
        service.set_service_properties(**part)
    assert plain(service.get_service_properties()) == plain(BASE)


def test_properties_by_signature(service, original, by):
    by(account_sas("s", "w")).set_service_properties(**BASE)
    assert plain(by(account_sas("s", "r")).get_service_properties()) == plain(BASE)
    with refused(403, "AuthorizationPermissionMismatch"):
        by(account_sas("s", "rdlacu")).set_service_properties(**BASE)
    with refused(403, "AuthorizationResourceTypeMismatch"):
        by(account_sas("co", "w")).set_service_properties(**BASE)


@pytest.fixture(scope="module")
def secondary(adopt):
    """The read-only copy, at an address of its own. The SDK is told both hosts, so that it believes to be there already."""
    host = urlsplit(account.SECONDARY).netloc
    return adopt(
        lambda kind: kind(endpoint=account.SECONDARY, credential=account.CREDENTIAL, secondary_hostname=host, retry_total=0)
    )


def test_stats(secondary):
    stats = secondary.get_service_stats()["geo_replication"]
    assert stats["status"] == "live"
    assert abs(datetime.now(timezone.utc) - stats["last_sync_time"]) < timedelta(hours=1)


def test_stats_by_itself(service):
    """Where the account stands in the path, the SDK asks at /NAME-secondary/NAME."""
    assert service.get_service_stats()["geo_replication"]["status"] == "live"


def test_secondary_by_itself(adopt, table, name):
    """What a client does after a failed read: the same request at the secondary, signed anew."""
    table.create_entity(keyed("O'Brien", A="x"))
    copy = adopt(
        lambda kind: kind(endpoint=account.ENDPOINT, credential=account.CREDENTIAL, location_mode="secondary", retry_total=0)
    ).get_table_client(name)
    assert copy.get_entity("p", "O'Brien")["A"] == "x"
    assert rows(copy.list_entities()) == ["O'Brien"]
    assert rows(copy.query_entities("A eq 'x'")) == ["O'Brien"]
    with refused(403, "InsufficientAccountPermissions"):
        copy.create_entity(keyed("new"))


def test_stats_only_at_the_secondary(adopt):
    host = urlsplit(account.ENDPOINT).netloc
    primary = adopt(
        lambda kind: kind(endpoint=account.ENDPOINT, credential=account.CREDENTIAL, secondary_hostname=host, retry_total=0)
    )
    with refused(400, "InvalidQueryParameterValue"):
        primary.get_service_stats()


def test_secondary_reads(secondary, service, table, name):
    table.create_entity(keyed("there", A="x"))
    copy = secondary.get_table_client(name)
    assert copy.get_entity("p", "there")["A"] == "x"
    assert rows(copy.list_entities()) == ["there"]
    assert plain(secondary.get_service_properties()) == plain(service.get_service_properties())
    for write in (
        lambda: copy.create_entity(keyed("new")),
        lambda: copy.submit_transaction([("create", keyed("new"))]),
        lambda: secondary.delete_table(name),
        lambda: secondary.set_service_properties(**BASE),
    ):
        with refused(403, "InsufficientAccountPermissions"):
            write()
    assert rows(table.list_entities()) == ["there"]
