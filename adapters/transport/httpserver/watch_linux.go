package httpserver

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// watch calls the function onClose when the client closes the connection, or the client's half of the connection. It
// reads no bytes. After a call of stop, the connection has a read deadline in the past.
func watch(c net.Conn, onClose func()) (stop func()) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return func() {}
	}
	raw, err := tcp.SyscallConn()
	if err != nil || tcp.SetReadDeadline(time.Time{}) != nil {
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if raw.Read(hungUp) == nil {
			onClose()
		}
	}()
	return func() {
		_ = tcp.SetReadDeadline(time.Unix(1, 0)) // an error means that the connection is closed
		<-ended
	}
}

// hungUp reports whether the peer has closed a socket, even if there are unread bytes.
func hungUp(fd uintptr) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
}
