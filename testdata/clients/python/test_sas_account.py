import secrets
from datetime import timedelta

import pytest

from account import FUTURE, PAST, account_sas
from expect import refused
from test_sas import DEEDS as ENTITY_DEEDS


def create_table(owner, service, table):
    name = "Py" + secrets.token_hex(10)
    service.create_table(name)
    owner.delete_table(name)


def delete_table(owner, service, table):
    name = "Py" + secrets.token_hex(10)
    owner.create_table(name)
    try:
        service.delete_table(name)
    finally:
        owner.delete_table(name)


def on_entities(deed):
    return lambda owner, service, table: deed(table, service.get_table_client(table.table_name))


# What each operation needs: a resource type, all of the permissions.
DEEDS = {
    "get properties": ("s", "r", lambda owner, service, table: service.get_service_properties()),
    "list tables": ("c", "l", lambda owner, service, table: list(service.list_tables())),
    "create table": ("c", "w", create_table),
    "delete table": ("c", "d", delete_table),
    **{name: ("o", needed, on_entities(deed)) for name, (needed, deed) in ENTITY_DEEDS.items()},
}
every_deed = pytest.mark.parametrize("types, needed, deed", DEEDS.values(), ids=DEEDS.keys())


@pytest.mark.parametrize("given", ["s", "c", "o", "sco"])
@every_deed
def test_resource_types(service, by, module_table, given, types, needed, deed):
    signed = by(account_sas(given))
    if types in given:
        deed(service, signed, module_table)
        return
    with refused(403, "AuthorizationResourceTypeMismatch"):
        deed(service, signed, module_table)


@pytest.mark.parametrize("given", ["r", "w", "d", "l", "a", "u", "au"])
@every_deed
def test_permissions(service, by, module_table, given, types, needed, deed):
    signed = by(account_sas("sco", given))
    if set(needed) <= set(given):
        deed(service, signed, module_table)
        return
    with refused(403, "AuthorizationPermissionMismatch"):
        deed(service, signed, module_table)


REFUSED = {
    "expired": ({"expiry": PAST}, "AuthenticationFailed"),
    "not yet": ({"start": FUTURE, "expiry": FUTURE + timedelta(hours=1)}, "AuthenticationFailed"),
    "https only": ({"protocol": "https"}, "AuthorizationProtocolMismatch"),
    "another address": ({"ip_address_or_range": "203.0.113.7"}, "AuthorizationSourceIPMismatch"),
}


@pytest.mark.parametrize("options, code", REFUSED.values(), ids=REFUSED.keys())
def test_refused(by, module_table, options, code):
    signed = by(account_sas(**options))
    with refused(403, code):
        list(signed.list_tables())
    with refused(403, code):
        signed.get_table_client(module_table.table_name).get_entity("p", "there")


def test_policies_are_the_owners(by, module_table):
    table = by(account_sas()).get_table_client(module_table.table_name)
    with refused(403, "AuthorizationFailure"):
        table.get_table_access_policy()
    with refused(403, "AuthorizationFailure"):
        table.set_table_access_policy({})
