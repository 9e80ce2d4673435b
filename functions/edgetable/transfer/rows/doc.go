// Package rows reads rows from files and converts them to entities. It handles file names, compressed files, JSON files
// and files of rejected rows. The packages csvfile and parquetfile handle the other formats.
package rows
