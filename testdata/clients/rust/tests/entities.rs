use crate::harness::*;
use azure_data_tables::IfMatchCondition;
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Person {
    #[serde(rename = "PartitionKey")]
    city: String,
    #[serde(rename = "RowKey")]
    name: String,
    born: i32,
    weight: f64,
    alive: bool,
}

#[tokio::test]
async fn insert_a_struct() {
    with_table(|table| async move {
        let ada = Person { city: "London".into(), name: "Ada".into(), born: 1815, weight: 61.5, alive: false };
        let answer = table.insert::<_, Person>(&ada).unwrap().return_entity(true).await.expect("insert");
        let echoed = answer.entity_with_metadata.expect("an entity in the answer");
        assert_eq!(echoed.entity, ada);
        let read = table.partition_key_client("London").entity_client("Ada").get::<Person>().await.expect("get");
        assert_eq!(read.entity, ada);
        assert_eq!(read.etag, echoed.metadata.etag.into());
    })
    .await;
}

#[tokio::test]
async fn insert_every_type() {
    with_table(|table| async move {
        let values = json!({
            "String": "<x> & 'y'", "Int32": 7, "Bool": true, "Double": 1.5,
            "Int64": "1099511627776", "Int64@odata.type": "Edm.Int64",
            "Whole": 2.0, "Whole@odata.type": "Edm.Double",
            "Infinite": "-Infinity", "Infinite@odata.type": "Edm.Double",
            "When": "2019-02-03T04:05:06.789Z", "When@odata.type": "Edm.DateTime",
            "Guid": "c9da6455-213d-42c9-9a79-3e9149a57833", "Guid@odata.type": "Edm.Guid",
            "Binary": "AP8=", "Binary@odata.type": "Edm.Binary",
        });
        insert(&table, &entity("types", values.clone())).await;
        assert_eq!(read(&table, "types").await, own(&values));
    })
    .await;
}

#[tokio::test]
async fn insert_odd_keys() {
    with_table(|table| async move {
        for row in ["a b", "+20&=", "ö世😀"] {
            insert(&table, &entity(row, json!({}))).await;
            assert_eq!(read(&table, row).await, json!({}));
            at(&table, row).delete().await.expect("delete");
        }
    })
    .await;
}

#[tokio::test]
async fn insert_twice() {
    with_table(|table| async move {
        let twice = entity("r", json!({}));
        insert(&table, &twice).await;
        refused(409, "EntityAlreadyExists", table.insert::<_, Value>(&twice).unwrap()).await;
    })
    .await;
    refused(404, "TableNotFound", missing().insert::<_, Value>(entity("r", json!({}))).unwrap()).await;
}

#[tokio::test]
async fn get_what_is_not_there() {
    with_table(|table| async move {
        refused(404, "ResourceNotFound", at(&table, "missing").get::<Value>()).await;
    })
    .await;
    refused(404, "TableNotFound", at(&missing(), "r").get::<Value>()).await;
}

#[tokio::test]
async fn get_some_properties() {
    with_table(|table| async move {
        insert(&table, &entity("r", json!({"A": 1, "B": 2}))).await;
        let read = at(&table, "r").get::<Value>().select("B").await.expect("get");
        assert_eq!(own(&read.entity), json!({"B": 2}));
    })
    .await;
}

#[tokio::test]
async fn update_if_unchanged() {
    with_table(|table| async move {
        let new = entity("r", json!({"B": 2}));
        refused(404, "ResourceNotFound", at(&table, "r").update(&new, IfMatchCondition::Any).unwrap()).await;
        insert(&table, &entity("r", json!({"A": 1}))).await;
        let stale = at(&table, "r").get::<Value>().await.expect("get").etag;
        let updated = at(&table, "r").update(&new, stale.clone().into()).unwrap().await.expect("update");
        assert_eq!(read(&table, "r").await, json!({"B": 2}));
        refused(412, "UpdateConditionNotSatisfied", at(&table, "r").update(&new, stale.into()).unwrap()).await;
        at(&table, "r").update(&new, updated.etag.into()).unwrap().await.expect("update again");
    })
    .await;
}

#[tokio::test]
async fn merge_if_unchanged() {
    with_table(|table| async move {
        let new = entity("r", json!({"B": 2}));
        refused(404, "ResourceNotFound", at(&table, "r").merge(&new, IfMatchCondition::Any).unwrap()).await;
        insert(&table, &entity("r", json!({"A": 1}))).await;
        let stale = at(&table, "r").get::<Value>().await.expect("get").etag;
        at(&table, "r").merge(&new, stale.clone().into()).unwrap().await.expect("merge");
        assert_eq!(read(&table, "r").await, json!({"A": 1, "B": 2}));
        refused(412, "UpdateConditionNotSatisfied", at(&table, "r").merge(&new, stale.into()).unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn upsert_replaces() {
    with_table(|table| async move {
        for (properties, left) in [(json!({"A": 1}), json!({"A": 1})), (json!({"B": 2}), json!({"B": 2}))] {
            at(&table, "r").insert_or_replace(entity("r", properties)).unwrap().await.expect("insert or replace");
            assert_eq!(read(&table, "r").await, left);
        }
    })
    .await;
}

#[tokio::test]
async fn upsert_merges() {
    with_table(|table| async move {
        for (properties, left) in [(json!({"A": 1}), json!({"A": 1})), (json!({"B": 2}), json!({"A": 1, "B": 2}))] {
            at(&table, "r").insert_or_merge(entity("r", properties)).unwrap().await.expect("insert or merge");
            assert_eq!(read(&table, "r").await, left);
        }
    })
    .await;
}

#[tokio::test]
async fn delete_if_unchanged() {
    with_table(|table| async move {
        insert(&table, &entity("r", json!({}))).await;
        let stale = at(&table, "r").get::<Value>().await.expect("get").etag;
        at(&table, "r").insert_or_replace(entity("r", json!({}))).unwrap().await.expect("replace");
        refused(412, "UpdateConditionNotSatisfied", at(&table, "r").delete().if_match(stale)).await;
        at(&table, "r").delete().await.expect("delete");
        refused(404, "ResourceNotFound", at(&table, "r").delete()).await;
    })
    .await;
}
