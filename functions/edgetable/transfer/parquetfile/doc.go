// Package parquetfile reads and writes parquet files, both our own and those of other
// programs.
package parquetfile
