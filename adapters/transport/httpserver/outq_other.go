//go:build !linux

package httpserver

import "net"

// sendQueueBytes returns 0, which means unknown. The written bytes then count as received.
func sendQueueBytes(net.Conn) int { return 0 }
