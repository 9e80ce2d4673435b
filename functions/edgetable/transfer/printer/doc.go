// Package printer prints entities for people and for other programs.
package printer
