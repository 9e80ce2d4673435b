// Package rows reads rows of files and maps them to entities. It also handles the names and the
// compression of files, rows as JSON, and the file of rejected rows. The packages csvfile and
// parquetfile handle the other formats.
package rows
