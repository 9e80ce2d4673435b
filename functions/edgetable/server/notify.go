package server

import (
	"log/slog"
	"net"
)

// notify sends a state such as READY=1 to systemd, see sd_notify(3). It does nothing if systemd does not expect
// notifications.
func (p *program) notify(state string, log *slog.Logger) {
	socket := p.Environment("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' { // @ denotes an abstract socket, whose name begins with a zero byte
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
