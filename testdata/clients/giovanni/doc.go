// Package giovanni holds the tests that use an edgetable server through giovanni, the library of Terraform's azurerm
// provider. They run with two versions of the library: the one before 2024 (tombuildsstuff/giovanni, on go-autorest)
// and the one since then (jackofallops/giovanni).
//
// EDGETABLE_CONNECTION_STRING names the server. The library has no ETags and no batches, and lists tables without
// pages.
package giovanni
