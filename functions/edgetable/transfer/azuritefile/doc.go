// Package azuritefile reads the file in which Azurite keeps its tables. This file is one JSON document of the
// database LokiJS. Azurite has no other format for tables. The package was tested with files of Azurite 3.37.
package azuritefile
