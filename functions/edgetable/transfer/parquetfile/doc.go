// Package parquetfile reads and writes parquet files. It also reads the files of other programs.
package parquetfile
