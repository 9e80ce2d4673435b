// Package pace shows the speed and the progress of a command, with an estimate of the remaining time.
package pace
