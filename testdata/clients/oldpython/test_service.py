import os
from datetime import datetime, timedelta, timezone

from conftest import VARIABLE, keyed, own, refused, rows

FUTURE = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=1)


def test_properties(lib, service):
    """The libraries write True and False, not true and false."""
    before = service.get_table_service_properties()
    try:
        service.set_table_service_properties(
            logging=lib.Logging(delete=True, read=False, write=True, retention_policy=lib.RetentionPolicy(True, 5)),
            hour_metrics=lib.Metrics(True, True, lib.RetentionPolicy(True, 6)),
            minute_metrics=lib.Metrics(False),
            cors=[lib.CorsRule(["http://example.com", "*"], ["GET", "PUT"], 60, ["x-ms-*"], ["x-ms-meta-a"])],
        )
        now = service.get_table_service_properties()
        assert (now.logging.delete, now.logging.read, now.logging.write) == (True, False, True)
        assert (now.logging.retention_policy.enabled, now.logging.retention_policy.days) == (True, 5)
        assert (now.hour_metrics.enabled, now.hour_metrics.include_apis) == (True, True)
        assert now.hour_metrics.retention_policy.days == 6
        assert now.minute_metrics.enabled is False
        (rule,) = now.cors
        assert (rule.allowed_origins, rule.allowed_methods) == (["http://example.com", "*"], ["GET", "PUT"])
        assert (rule.max_age_in_seconds, rule.exposed_headers, rule.allowed_headers) == (60, ["x-ms-*"], ["x-ms-meta-a"])
    finally:
        service.set_table_service_properties(before.logging, before.hour_metrics, before.minute_metrics, before.cors)


def test_acl(lib, service, table):
    assert service.get_table_acl(table) == {}
    policy = lib.AccessPolicy(permission=lib.TablePermissions.QUERY, expiry=FUTURE)
    service.set_table_acl(table, {"readers": policy, "empty": lib.AccessPolicy()})
    found = service.get_table_acl(table)
    assert set(found) == {"readers", "empty"}
    assert found["readers"].permission == "r"
    service.set_table_acl(table)
    assert service.get_table_acl(table) == {}


def test_sas_of_a_table(lib, service, by, table):
    service.insert_entity(table, keyed("r", A=1))
    reader = by(service.generate_table_shared_access_signature(table, lib.TablePermissions.QUERY, FUTURE))
    assert own(reader.get_entity(table, "p", "r")) == {"A": 1}
    with refused(403, "AuthorizationPermissionMismatch"):
        reader.insert_entity(table, keyed("new"))
    writer = by(service.generate_table_shared_access_signature(table, lib.TablePermissions.ADD, FUTURE))
    writer.insert_entity(table, keyed("new"))


def test_sas_of_a_range(lib, service, by, table):
    for partition in "abc":
        service.insert_entity(table, keyed("r", partition))
    token = service.generate_table_shared_access_signature(
        table, lib.TablePermissions.QUERY, FUTURE, start_pk="b", start_rk="", end_pk="b", end_rk="z")
    assert [entity.PartitionKey for entity in by(token).query_entities(table)] == ["b"]


def test_sas_of_a_policy(lib, service, by, table):
    service.set_table_acl(table, {"readers": lib.AccessPolicy(lib.TablePermissions.QUERY, FUTURE)})
    reader = by(service.generate_table_shared_access_signature(table, id="readers"))
    assert rows(reader.query_entities(table)) == []
    service.set_table_acl(table)
    with refused(403, "AuthenticationFailed"):
        reader.query_entities(table)


def test_sas_of_the_account(lib, service, by, table):
    token = service.generate_account_shared_access_signature(lib.ResourceTypes.OBJECT, lib.AccountPermissions.ADD, FUTURE)
    by(token).insert_entity(table, keyed("r"))
    with refused(403, "AuthorizationPermissionMismatch"):
        by(token).get_entity(table, "p", "r")


def test_sas_expired(lib, service, by, table):
    past = FUTURE - timedelta(hours=2)
    with refused(403, "AuthenticationFailed"):
        by(service.generate_table_shared_access_signature(table, lib.TablePermissions.QUERY, past)).query_entities(table)


def test_wrong_key(connect):
    parts = [part if not part.startswith("AccountKey=") else "AccountKey=d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ=="
             for part in os.environ[VARIABLE].split(";")]
    with refused(403, "AuthenticationFailed"):
        connect(";".join(parts)).list_tables()
