package httpserver

import (
	"net"

	"golang.org/x/sys/unix"
)

// untaken returns the bytes that the system holds for the client, or 0 if it does not tell.
// The client made progress if they are fewer, though nothing more could be written.
func untaken(c net.Conn) (n int) {
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
