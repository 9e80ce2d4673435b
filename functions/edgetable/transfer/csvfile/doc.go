// Package csvfile reads and writes CSV files. It reads the files of edgetable, of Storage Explorer
// and of AzCopy, and CSV files without types.
package csvfile
