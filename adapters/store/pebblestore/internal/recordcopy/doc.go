// Package recordcopy maintains a file with a second copy of the records of all tables, outside of the database. [Read]
// reads the file, and a [File] adds lines to the file.
package recordcopy
