package localexplorer

import (
	"os/exec"
	"runtime"
)

// openBrowser opens a link in the user's browser.
func openBrowser(link string) error {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	c := exec.Command(command[0], append(command[1:], link)...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // do not wait for the browser, which may keep running
	return nil
}
