// Package server has the command serve: flags, wiring, certificates, health, metrics of the parts, the socket
// for administration, and the background work.
package server
