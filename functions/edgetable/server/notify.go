package server

import (
	"log/slog"
	"net"
)

// notify tells systemd about the state of a service of Type=notify, as
// sd_notify(3) describes: READY=1 or STOPPING=1. Elsewhere it does nothing.
func (p *program) notify(state string, log *slog.Logger) {
	socket := p.Environment("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' { // a name without a file
		socket = "\x00" + socket[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		_ = c.Close()
	}
	if err != nil {
		log.Warn("systemd cannot be told the state", "state", state, "cause", err)
	}
}
