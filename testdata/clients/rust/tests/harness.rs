//! Clients for the server under test, tables that go away, and what a refusal looks like.

use azure_core::RetryOptions;
use azure_data_tables::clients::{EntityClient, TableClient, TableServiceClient, TableServiceClientBuilder};
use azure_storage::{CloudLocation, StorageCredentials};
use futures::StreamExt;
use serde_json::{json, Value};
use std::future::{Future, IntoFuture};

pub fn setting(name: &str) -> String {
    let text = std::env::var("EDGETABLE_CONNECTION_STRING")
        .expect("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server");
    let found = text.split(';').find_map(|part| part.strip_prefix(&format!("{name}=")).map(str::to_owned));
    found.unwrap_or_else(|| panic!("the connection string has no {name}"))
}

pub fn service_with(credentials: StorageCredentials) -> TableServiceClient {
    let uri = setting("TableEndpoint").trim_end_matches('/').to_owned();
    let location = CloudLocation::Custom { account: setting("AccountName"), uri };
    // Retries would only hide a 5xx.
    TableServiceClientBuilder::with_location(location, credentials).retry(RetryOptions::none()).build()
}

pub fn service() -> TableServiceClient {
    service_with(StorageCredentials::access_key(setting("AccountName"), setting("AccountKey")))
}

/// A client for a table that is not there.
pub fn missing() -> TableClient {
    service().table_client(format!("Rust{}", uuid::Uuid::new_v4().simple()))
}

/// Runs a test with a new table, which is deleted afterwards, also if the test fails.
pub async fn with_table<F, T>(test: F)
where
    F: FnOnce(TableClient) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let table = missing();
    table.create().await.expect("create the table");
    let outcome = tokio::task::spawn(test(table.clone())).await;
    let _ = table.delete().await; // some tests delete it themselves
    outcome.expect("the test");
}

/// An entity of partition "p" with further properties.
pub fn entity(row: &str, properties: Value) -> Value {
    let mut all = json!({"PartitionKey": "p", "RowKey": row});
    all.as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
    all
}

pub fn at(table: &TableClient, row: &str) -> EntityClient {
    table.partition_key_client("p").entity_client(row)
}

pub async fn insert(table: &TableClient, entity: &Value) {
    table.insert::<_, Value>(entity).unwrap().await.expect("insert");
}

/// The entity's own properties: no keys, no timestamp, no annotations.
pub fn own(entity: &Value) -> Value {
    let system = |name: &str| ["PartitionKey", "RowKey", "Timestamp"].contains(&name) || name.contains("odata.");
    entity.as_object().unwrap().iter().filter(|(name, _)| !system(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

pub async fn read(table: &TableClient, row: &str) -> Value {
    own(&at(table, row).get::<Value>().await.expect("get").entity)
}

/// The row keys of all pages, and how many there were in each.
pub async fn rows(query: azure_data_tables::operations::QueryEntityBuilder) -> azure_core::Result<(Vec<String>, Vec<usize>)> {
    let (mut rows, mut sizes) = (vec![], vec![]);
    let mut pages = query.into_stream::<Value>();
    while let Some(page) = pages.next().await {
        let entities = page?.entities;
        sizes.push(entities.len());
        rows.extend(entities.iter().map(|e| e["RowKey"].as_str().unwrap().to_owned()));
    }
    Ok((rows, sizes))
}

/// Asserts that a call is refused with this status and code.
pub async fn refused<T, F: IntoFuture<Output = azure_core::Result<T>>>(status: u16, code: &str, call: F) {
    let error = call.await.err().unwrap_or_else(|| panic!("success instead of {status} {code}"));
    let failure = error.as_http_error().unwrap_or_else(|| panic!("{error:?} instead of {status} {code}"));
    assert_eq!((u16::from(failure.status()), failure.error_code()), (status, Some(code)), "{failure:?}");
}
