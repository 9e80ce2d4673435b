// Package watch implements the command that prints the changes in a table as they happen.
package watch
