import os

from azure.data.tables import TableServiceClient


def people(account):
    return TableServiceClient.from_connection_string(account.connection_string).create_table("People")


def test_insert(edgetable):
    table = people(edgetable)
    table.create_entity({"PartitionKey": "a", "RowKey": "1", "Name": "Ada"})
    assert [e["Name"] for e in table.query_entities("Name eq 'Ada'")] == ["Ada"]


def test_each_test_has_an_empty_account(edgetable):
    assert list(people(edgetable).list_entities()) == []
    assert os.environ["EDGETABLE_CONNECTION_STRING"] == edgetable.connection_string
