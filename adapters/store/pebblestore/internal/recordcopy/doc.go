// Package recordcopy maintains a second copy of all table records in a file outside of the database.
package recordcopy
