// Package client implements the commands that read or write the entities of table services, local or remote. Other
// packages use its flags to name a service, and its connection to that service.
package client
