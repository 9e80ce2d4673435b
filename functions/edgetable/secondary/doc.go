// Package secondary implements a server that replicates another server, the primary. The secondary builds
// its store from a backup of the primary. Then it applies the log that the primary ships to the backup
// location. It reports how old its data is. A secondary can be promoted, which makes it the primary.
package secondary
