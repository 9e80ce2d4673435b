// Package azuritefile reads the file in which Azurite stores its tables, a LokiJS database in a single JSON document.
// It has been tested with files of Azurite 3.37.
package azuritefile
