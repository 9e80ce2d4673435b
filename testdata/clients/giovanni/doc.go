// Package giovanni holds the tests that drive an edgetable server with giovanni, the library of Terraform's azurerm
// provider, as it was before 2024 (tombuildsstuff/giovanni, on go-autorest) and as it is since (jackofallops/giovanni).
//
// The server is named by EDGETABLE_CONNECTION_STRING. The library has no ETags, no batches and no pages of tables.
package giovanni
