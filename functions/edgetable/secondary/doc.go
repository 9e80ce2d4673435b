// Package secondary is a server that follows the log of another one: it builds its store from a backup, applies the log, tells its age, and
// can be promoted.
package secondary
