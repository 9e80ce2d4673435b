// Package dial makes network connections that fail when the peer has disappeared.
package dial

import (
	"context"
	"net"
	"syscall"
	"time"
)

// silence is how long a peer may send nothing before the connection fails.
const silence = 15 * time.Second

// Context connects to an address. The connection fails when the peer has disappeared, even if no data is in flight.
func Context(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 5},
		Control: func(network, _ string, c syscall.RawConn) error {
			if network == "unix" {
				return nil
			}
			return c.Control(func(fd uintptr) { limit(fd, silence) })
		},
	}
	return d.DialContext(ctx, network, address)
}
