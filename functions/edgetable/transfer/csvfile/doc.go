// Package csvfile reads and writes CSV files: our own, those of Storage Explorer and AzCopy, and
// files without types.
package csvfile
