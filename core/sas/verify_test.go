package sas_test

import (
	"net/netip"
	"testing"

	"edgetable/core/sas"
)

// inside is a context in which every vector is valid.
func inside(t testing.TB) sas.Context {
	t.Helper()
	return sas.Context{Now: at(t, "2026-06-27T15:25:14Z"), Source: netip.MustParseAddr("168.1.5.65"), HTTPS: true}
}
