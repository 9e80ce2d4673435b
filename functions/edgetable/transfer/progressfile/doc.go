// Package progressfile keeps the files that say how far interrupted work is, so that the same
// command resumes it.
package progressfile
