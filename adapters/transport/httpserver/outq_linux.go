package httpserver

import (
	"net"

	"golang.org/x/sys/unix"
)

// untaken returns how many bytes the system still holds for the client, or 0 if unknown. If the number falls, the
// client made progress even though nothing more could be written.
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
