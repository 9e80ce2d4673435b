// Package sorter sorts rows by their keys in bounded memory.
package sorter
