import secrets

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError

from expect import keyed, refused, rows


def test_create_and_delete(service, name):
    assert service.create_table(name).table_name == name
    with refused(409, "TableAlreadyExists", ResourceExistsError):
        service.create_table(name)
    with refused(409, "TableAlreadyExists", ResourceExistsError):
        service.create_table(name.upper())  # names differing in case only are one name
    assert service.create_table_if_not_exists(name).table_name == name
    service.delete_table(name.lower())
    assert [] == list(service.query_tables(f"TableName eq '{name}'"))
    service.delete_table(name)  # missing: the SDK passes over the 404


def test_table_client_creates_and_deletes(service, name):
    client = service.get_table_client(name)
    assert client.create_table().name == name
    with refused(409, "TableAlreadyExists", ResourceExistsError):
        client.create_table()
    client.delete_table()
    with refused(404, "TableNotFound", ResourceNotFoundError):
        client.create_entity(keyed("r"))


def test_delete_of_missing_table_is_404_on_the_wire(service, name):
    answers = []
    service.delete_table(name, raw_response_hook=lambda reply: answers.append(reply.http_response))
    assert [answer.status_code for answer in answers] == [404]
    assert "ResourceNotFound" in answers[0].text()  # not TableNotFound: the table is the resource here


def test_recreated_table_is_empty(service, table, name):
    table.create_entity(keyed("r"))
    service.delete_table(name)
    assert rows(service.create_table(name).list_entities()) == []


def test_name_in_another_case(service, table, name):
    service.get_table_client(name.upper()).create_entity(keyed("r", A="x"))
    assert service.get_table_client(name.lower()).get_entity("p", "r")["A"] == "x"


@pytest.mark.parametrize(
    "bad",
    ["ab", "a" * 64, "a-b", "a_b", "1abc", "täble", "my table"],
    ids=["short", "long", "dash", "underscore", "digit first", "umlaut", "blank"],
)
def test_invalid_names(service, bad):
    # The SDK recognises the service's message, to the letter, and raises ValueError in its place.
    with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
        service.create_table(bad)


@pytest.mark.parametrize("reserved", ["tables", "Tables"])
def test_reserved_name(service, reserved):
    with refused(400, "InvalidInput"):
        service.create_table(reserved)


def test_longest_name(service):
    longest = ("Py" + secrets.token_hex(10)).ljust(63, "z")
    service.create_table(longest)
    service.delete_table(longest)


@pytest.fixture
def five(service):
    """Five tables created out of order; their common prefix and sorted names."""
    prefix = "Py" + secrets.token_hex(10)
    for suffix in "EBDAC":
        service.create_table(prefix + suffix)
    yield prefix, [prefix + suffix for suffix in "ABCDE"]
    for suffix in "ABCDE":
        service.delete_table(prefix + suffix)


def test_query_tables(service, five):
    prefix, names = five
    mine = f"TableName ge '{prefix}' and TableName lt '{prefix}z'"
    assert [item.name for item in service.query_tables(mine)] == names
    assert [item.name for item in service.query_tables("TableName eq @name", parameters={"name": names[2]})] == [names[2]]
    listed = [item.name for item in service.list_tables()]
    assert [name for name in listed if name.startswith(prefix)] == names


def test_page_tables(service, five):
    prefix, names = five
    mine = f"TableName ge '{prefix}' and TableName lt '{prefix}z'"
    pages = service.query_tables(mine, results_per_page=2).by_page()
    assert [item.name for item in next(pages)] == names[:2]
    token = pages.continuation_token
    assert token
    resumed = service.query_tables(mine, results_per_page=2).by_page(continuation_token=token)
    assert [[item.name for item in page] for page in resumed] == [names[2:4], names[4:]]


def test_unusable_table_filter(service):
    with refused(400, "InvalidInput", HttpResponseError):
        list(service.query_tables("aaa bbb ccc"))
