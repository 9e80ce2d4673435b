package httpserver

import (
	"net"

	"golang.org/x/sys/unix"
)

// sendQueueBytes returns the number of bytes in the system's send buffer, or 0 if it is unknown. A lower number shows
// that the client has received bytes.
func sendQueueBytes(c net.Conn) (n int) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return 0
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return n
}
