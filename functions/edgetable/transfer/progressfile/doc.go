// Package progressfile keeps files that record the progress of work, so that the same command
// can resume it after an interruption.
package progressfile
