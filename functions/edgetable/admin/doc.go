// Package admin implements the administration socket of a server, through which commands send requests, and the state
// that the server reports.
package admin
