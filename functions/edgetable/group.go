package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
)

// command is one of a group of commands, such as create of dynamodb.
type command struct {
	name string
	run  func(ctx context.Context, args []string) error
}

// group runs the command of a group that the first argument names.
func (p *program) group(ctx context.Context, args []string, usage string, commands ...command) error {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	known := strings.Join(names, " or ")
	if len(args) == 0 {
		return misuse("say what to do: %s", known)
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(ctx, args[1:])
		}
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.out, usage)
		return flag.ErrHelp
	}
	return misuse("there is no command %q: say %s", args[0], known)
}
