// Package rows reads rows of files and maps them to entities. It also handles the names and the
// compression of files, rows as JSON, and the file of rejected rows. Other formats are in
// csvfile and parquetfile.
package rows
