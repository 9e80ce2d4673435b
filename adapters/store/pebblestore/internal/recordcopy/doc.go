// Package recordcopy maintains a second copy of the records of all tables, outside of the database. [Read] reads it,
// and a [File] adds to it.
package recordcopy
