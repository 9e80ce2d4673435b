// Package azuritefile reads the file in which Azurite keeps its tables: one JSON document, as the database LokiJS
// writes it. Azurite has no other form for tables. The package was tried with files of Azurite 3.37.
package azuritefile
