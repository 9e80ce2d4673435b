//! Tests of an edgetable server with azure_data_tables. The server is named by EDGETABLE_CONNECTION_STRING.

mod entities;
mod harness;
mod queries;
mod tables;
mod transactions;
