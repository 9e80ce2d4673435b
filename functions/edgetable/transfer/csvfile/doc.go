// Package csvfile reads and writes CSV files. It reads the formats of edgetable, Storage Explorer and AzCopy, and CSV
// files without types.
package csvfile
