//go:build !linux

package httpserver

import "net"

// sendQueueBytes returns 0, which means unknown. The server then cannot see how many bytes the client
// has received, and counts the written bytes instead.
func sendQueueBytes(net.Conn) int { return 0 }
