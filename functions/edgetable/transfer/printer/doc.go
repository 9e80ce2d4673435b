// Package printer formats entities for people and for programs.
package printer
