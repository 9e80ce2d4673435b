// Package secondary implements the flags of a server that replicates another server, and the command that makes it the
// primary. Package adapters/replicate/follow implements the replication.
package secondary
