// Package pace shows how fast a command works on tables, with an estimate of the time that is left.
package pace
