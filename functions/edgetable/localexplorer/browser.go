package localexplorer

import (
	"os/exec"
	"runtime"
)

func openBrowser(link string) error {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	c := exec.Command(command[0], append(command[1:], link)...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // reap the process, which may run for as long as the browser
	return nil
}
