// Package parquetfile reads and writes parquet files: our own and those of other programs.
package parquetfile
