use crate::harness::*;
use azure_storage::StorageCredentials;
use futures::StreamExt;
use serde_json::json;

async fn names(list: azure_data_tables::operations::ListTablesBuilder) -> Vec<String> {
    let mut names = vec![];
    let mut pages = list.into_stream();
    while let Some(page) = pages.next().await {
        names.extend(page.expect("list").tables.into_iter().map(|table| table.name));
    }
    names
}

#[tokio::test]
async fn create_table_once() {
    with_table(|table| async move {
        refused(409, "TableAlreadyExists", table.create()).await;
    })
    .await;
    refused(400, "InvalidResourceName", service().table_client("1abc").create()).await;
}

#[tokio::test]
async fn list_tables() {
    with_table(|table| async move {
        let name = table.table_name().to_owned();
        assert_eq!(names(service().list().filter(format!("TableName eq '{name}'"))).await, [name]);
    })
    .await;
}

#[tokio::test]
async fn list_tables_in_pages() {
    with_table(|table| async move {
        let found = names(service().list().top(1)).await;
        assert!(found.iter().any(|name| name == table.table_name()), "{found:?}");
    })
    .await;
}

#[tokio::test]
async fn delete_table_and_create_it_again() {
    with_table(|table| async move {
        insert(&table, &entity("r", json!({}))).await;
        table.delete().await.expect("delete");
        refused(404, "ResourceNotFound", table.delete()).await;
        table.create().await.expect("create again");
        assert!(rows(table.query()).await.expect("query").0.is_empty());
    })
    .await;
}

#[tokio::test]
async fn wrong_key() {
    let stranger = StorageCredentials::access_key(setting("AccountName"), "d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ==");
    let table = service_with(stranger).table_client("Any");
    refused(403, "AuthenticationFailed", table.create()).await;
}
