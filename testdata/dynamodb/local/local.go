// Package local starts DynamoDB Local for tests.
package local

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Start returns the URL of a DynamoDB Local. If the environment variable DYNAMODB_LOCAL_URL is set, Start returns
// its value. Otherwise Start starts a server in memory, which ends when stop is called or when this process ends. The
// first start installs DynamoDB Local.
func Start() (url string, stop func(), err error) {
	if url := os.Getenv("DYNAMODB_LOCAL_URL"); url != "" {
		return url, func() {}, nil
	}
	// Find the script from the working directory: test programs run in the directory of their package, and source paths
	// may be trimmed from the program.
	script, err := script()
	if err != nil {
		return "", nil, err
	}
	c := exec.Command(script)
	c.Stderr = os.Stderr
	if c.Dir, err = os.MkdirTemp("", "dynamodb-local-"); err != nil { // DynamoDB Local leaves a file in its directory
		return "", nil, err
	}
	life, err := c.StdinPipe() // the server ends when this pipe is closed
	if err != nil {
		return "", nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, fmt.Errorf("%s: %w", script, err)
	}
	stop = func() {
		life.Close()
		_ = c.Wait() // an error is ignored, because it only says that the process was stopped
		_ = os.RemoveAll(c.Dir)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("DynamoDB Local did not start: %v", c.ProcessState)
	}
	return strings.TrimSpace(line), stop, nil
}

// script returns the path of testdata/dynamodb/start below the root of the module.
func script() (string, error) {
	if runtime.GOOS == "windows" {
		return "", fmt.Errorf("DynamoDB Local is started by a script of bash; start one and set DYNAMODB_LOCAL_URL")
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		script := filepath.Join(dir, "testdata", "dynamodb", "start")
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("testdata/dynamodb/start is not above the working directory")
		}
		dir = parent
	}
}
