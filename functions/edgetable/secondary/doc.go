// Package secondary implements a server that follows the log of another one: it builds its store from a backup,
// applies the log, reports how old its data is, and can be promoted.
package secondary
