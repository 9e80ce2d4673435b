// Package secondary implements the flags of a server that replicates another server, and the command that makes
// it the primary. The package adapters/replicate/follow does the work.
package secondary
