//go:build !unix

package cli

// rights has nothing to say where files have no owners of this kind.
func rights(error) string { return "" }
