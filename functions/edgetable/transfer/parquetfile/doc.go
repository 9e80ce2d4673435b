// Package parquetfile reads and writes parquet files. It also reads files of other programs.
package parquetfile
