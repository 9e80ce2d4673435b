package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"edgetable/functions/edgetable/azurite"
)

// inits are programs that may be the first process of a container and start the server. For example, docker run --init
// uses docker-init.
var inits = []string{"docker-init", "tini", "catatonit", "dumb-init"}

// listenOfServer returns the value of --listen of the server in the same container, for the health check of the image.
// It returns "" if the first process of the container is not the server.
func listenOfServer(proc string) string {
	at := "1"
	if comm, err := os.ReadFile(filepath.Join(proc, "1/comm")); err == nil && slices.Contains(inits, strings.TrimSpace(string(comm))) {
		children, err := os.ReadFile(filepath.Join(proc, "1/task/1/children"))
		if f := strings.Fields(string(children)); err == nil && len(f) > 0 {
			at = f[0]
		}
	}
	self, err := os.Stat(filepath.Join(proc, "self/exe"))
	if err != nil {
		return ""
	}
	program, err := os.Stat(filepath.Join(proc, at, "exe"))
	if err != nil || !os.SameFile(self, program) {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(proc, at, "cmdline"))
	if err != nil {
		return ""
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	args := words[1:]
	if name, rest := azurite.Named(words[0], args); name != "" {
		start, err := azurite.Serve(name, rest, os.Getenv)
		if err != nil {
			return ""
		}
		args = start.Args
	}
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--listen="); ok {
			return value
		}
		if arg == "--listen" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
