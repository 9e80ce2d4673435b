// Package printer prints entities for people and for pipes.
package printer
