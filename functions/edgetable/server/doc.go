// Package server implements the command serve: its flags, certificates, health checks, metrics, the
// administration socket and background jobs.
package server
