//go:build !linux

package httpserver

import "net"

// untaken returns 0: only what could be written counts as progress.
func untaken(net.Conn) int { return 0 }
