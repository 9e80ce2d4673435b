//go:build !linux

package httpserver

import "net"

// watch does nothing on this system. A request that waits for changes does not detect that its client has disconnected.
func watch(net.Conn, func()) (stop func()) { return func() {} }
