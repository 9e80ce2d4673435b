// Package server implements the command serve: flags, wiring, certificates, health, metrics of the parts, the
// administration socket and background jobs.
package server
