// Package server implements the commands serve and health, with the flags, certificates, metrics, administration socket
// and background jobs of the server.
package server
