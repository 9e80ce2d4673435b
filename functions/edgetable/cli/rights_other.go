//go:build !unix

package cli

// rights returns "": files have no owners of this kind here.
func explainPermission(error) string { return "" }
