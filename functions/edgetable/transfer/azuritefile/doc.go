// Package azuritefile reads the file in which Azurite stores its tables: a LokiJS database in one JSON document. It has
// been tested with Azurite 3.37.
package azuritefile
