// Package giovanni holds the tests that use an edgetable server through giovanni, the library of Terraform's azurerm
// provider. They run with the library as it was before 2024 (tombuildsstuff/giovanni, on go-autorest) and as it is
// since (jackofallops/giovanni).
//
// EDGETABLE_CONNECTION_STRING names the server. The library has no ETags and no batches, and lists tables without
// pages.
package giovanni
