//go:build !unix

package cli

// explainPermission returns "", because files have no numeric owner on this operating system.
func explainPermission(error) string { return "" }
