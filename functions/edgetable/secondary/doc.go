// Package secondary implements the flags of a server that replicates another server, and the command that makes it the
// primary. Package follow replicates.
package secondary
