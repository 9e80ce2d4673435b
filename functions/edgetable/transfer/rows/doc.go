// Package rows reads rows of files and converts them to entities. It handles file names, compression, JSON and rejects;
// packages csvfile and parquetfile handle the other formats.
package rows
