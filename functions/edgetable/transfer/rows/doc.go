// Package rows knows the rows of files: how they become entities by a mapping, the names and the
// compression of files, rows as JSON, and the file of rejected rows. Other formats are in
// csvfile and parquetfile.
package rows
