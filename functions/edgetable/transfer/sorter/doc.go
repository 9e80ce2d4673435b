// Package sorter sorts rows by key in bounded memory.
package sorter
