// Package client implements the commands that read and write entities of local and remote table services. Other
// commands use its flags and its connection to a service.
package client
