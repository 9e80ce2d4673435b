//go:build !unix

package cli

// explainPermission returns "": on this operating system, files have no numeric owner.
func explainPermission(error) string { return "" }
