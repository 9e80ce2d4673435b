package server

import (
	"log/slog"
	"net"
)

// notify reports a state to systemd, as sd_notify(3) does: READY=1 or STOPPING=1. It does nothing if systemd does
// not expect reports.
func (p *program) notify(state string, log *slog.Logger) {
	socket := p.Environment("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' { // a name that begins with @ means an abstract socket, whose name begins with a zero byte
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
