package server

import (
	"log/slog"
	"net"
)

// notify tells systemd the state of a service with Type=notify, as in sd_notify(3): READY=1 or STOPPING=1. It does
// nothing elsewhere.
func (p *program) notify(state string, log *slog.Logger) {
	socket := p.Environment("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' { // an abstract socket has no file
		socket = "\x00" + socket[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		_ = c.Close()
	}
	if err != nil {
		log.Warn("the state cannot be reported to systemd", "state", state, "cause", err)
	}
}
