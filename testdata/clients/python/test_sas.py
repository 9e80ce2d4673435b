import re
import secrets
from datetime import timedelta

import pytest

from account import FUTURE, PAST, table_sas
from expect import keyed, refused, rows


def row():
    return secrets.token_hex(6)


def delete(owner, table):
    entity = keyed(row())
    owner.create_entity(entity)
    table.delete_entity(entity)


# What each operation needs.
DEEDS = {
    "query": ("r", lambda owner, table: list(table.query_entities("PartitionKey eq 'p'"))),
    "get": ("r", lambda owner, table: table.get_entity("p", "there")),
    "create": ("a", lambda owner, table: table.create_entity(keyed(row()))),
    "merge": ("u", lambda owner, table: table.update_entity(keyed("there"), mode="merge")),
    "replace": ("u", lambda owner, table: table.update_entity(keyed("there"), mode="replace")),
    "upsert merge": ("au", lambda owner, table: table.upsert_entity(keyed("there"), mode="merge")),
    "upsert replace": ("au", lambda owner, table: table.upsert_entity(keyed("there"), mode="replace")),
    "delete": ("d", delete),
    "transaction of creates": ("a", lambda owner, table: table.submit_transaction([("create", keyed(row())), ("create", keyed(row()))])),
    "transaction of updates": ("u", lambda owner, table: table.submit_transaction([("update", keyed("there"))])),
    "transaction of upserts": ("au", lambda owner, table: table.submit_transaction([("upsert", keyed("there"))])),
    "mixed transaction": ("au", lambda owner, table: table.submit_transaction([("create", keyed(row())), ("update", keyed("there"))])),
}


@pytest.mark.parametrize("letters", ["r", "a", "u", "d", "au", "rud", "raud"])
@pytest.mark.parametrize("needed, deed", DEEDS.values(), ids=DEEDS.keys())
def test_permissions(by, module_table, letters, needed, deed):
    table = by(table_sas(module_table.table_name, letters)).get_table_client(module_table.table_name)
    if set(needed) <= set(letters):
        deed(module_table, table)
        return
    with refused(403, "AuthorizationPermissionMismatch"):
        deed(module_table, table)


def test_refused_transaction_leaves_nothing(by, module_table):
    before = rows(module_table.list_entities())
    table = by(table_sas(module_table.table_name, "a")).get_table_client(module_table.table_name)
    with refused(403, "AuthorizationPermissionMismatch") as caught:
        table.submit_transaction([("create", keyed(row())), ("update", keyed("there"))])
    assert caught.value.index == 1
    assert rows(module_table.list_entities()) == before


def read(by, module_table, **options):
    name = module_table.table_name
    return by(table_sas(name, **options)).get_table_client(name).get_entity("p", "there")


ALLOWED = {
    "from the past": {"start": PAST},
    "a date": {"expiry": FUTURE.date() + timedelta(days=2)},  # the SDK takes dates, too
    "text": {"expiry": FUTURE.strftime("%Y-%m-%dT%H:%MZ")},
    "https and http": {"protocol": "https,http"},
    "everybody's address": {"ip_address_or_range": "0.0.0.0-255.255.255.255"},
}


@pytest.mark.parametrize("options", ALLOWED.values(), ids=ALLOWED.keys())
def test_allowed(by, module_table, options):
    assert read(by, module_table, **options)["RowKey"] == "there"


# protocol is text, since Python 3.11 and later write SASProtocol.HTTPS as "SASProtocol.HTTPS" into the signature.
REFUSED = {
    "expired": ({"expiry": PAST}, "AuthenticationFailed"),
    "not yet": ({"start": FUTURE, "expiry": FUTURE + timedelta(hours=1)}, "AuthenticationFailed"),
    "https only": ({"protocol": "https"}, "AuthorizationProtocolMismatch"),
    "another address": ({"ip_address_or_range": "203.0.113.7"}, "AuthorizationSourceIPMismatch"),
    "another range": ({"ip_address_or_range": "203.0.113.7-203.0.113.9"}, "AuthorizationSourceIPMismatch"),
}


@pytest.mark.parametrize("options, code", REFUSED.values(), ids=REFUSED.keys())
def test_refused(by, module_table, options, code):
    with refused(403, code):
        read(by, module_table, **options)


FORGED = {"permissions": ("sp=r&", "sp=raud&"), "expiry": ("se=2", "se=3"), "signature": (r"sig=.{6}", "sig=AAAAAA")}


@pytest.mark.parametrize("pattern, other", FORGED.values(), ids=FORGED.keys())
def test_forged(by, module_table, pattern, other):
    sas = table_sas(module_table.table_name)
    forged = re.sub(pattern, other, sas, count=1)
    assert forged != sas
    with refused(403, "AuthenticationFailed"):
        by(forged).get_table_client(module_table.table_name).get_entity("p", "there")


def test_name_in_another_case(by, module_table):
    name = module_table.table_name
    for signed, asked in ((name.upper(), name), (name, name.lower())):
        assert by(table_sas(signed)).get_table_client(asked).get_entity("p", "there")


def test_another_table(by, module_table, table, missing_table):
    service = by(table_sas(module_table.table_name, "raud"))
    for other in (table, missing_table):
        other = service.get_table_client(other.table_name)
        with refused(403, "AuthorizationFailure"):
            other.get_entity("p", "there")
        with refused(403, "AuthorizationFailure"):
            other.create_entity(keyed(row()))


BEYOND = {
    "list tables": lambda service, name: list(service.list_tables()),
    "create table": lambda service, name: service.create_table("Py" + row()),
    "delete table": lambda service, name: service.delete_table(name),
    "get policies": lambda service, name: service.get_table_client(name).get_table_access_policy(),
    "set policies": lambda service, name: service.get_table_client(name).set_table_access_policy({}),
    "get properties": lambda service, name: service.get_service_properties(),
}


@pytest.mark.parametrize("call", BEYOND.values(), ids=BEYOND.keys())
def test_nothing_but_entities(by, module_table, call):
    with refused(403, "AuthorizationFailure"):
        call(by(table_sas(module_table.table_name, "raud")), module_table.table_name)
