// Package bench implements the command that measures a server under load.
package bench
