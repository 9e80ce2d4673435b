// Package csvfile reads and writes files of CSV: our own, those of Storage Explorer and AzCopy, and
// those without types.
package csvfile
