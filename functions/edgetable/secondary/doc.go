// Package secondary implements a server that follows another one, the primary. It builds its store from a
// backup of the primary, applies the log that the primary ships to the backup place, and reports how old its
// data is. It can be promoted, which makes it the primary.
package secondary
