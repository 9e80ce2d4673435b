package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Confirm prints the text in the third argument, and asks the user to type a name. The first argument is the kind of
// the named thing, such as "table". If the user types something else, Confirm returns an error. The error begins with
// the last argument.
func (p *Terminal) Confirm(kind, name, says, undone string) error {
	fmt.Fprintf(p.Err, "%s Type the name of the %s: ", says, kind)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err == io.EOF { // the input ended without a line end
		fmt.Fprintln(p.Err)
	} else if err != nil {
		return err
	}
	if strings.TrimSpace(line) != name {
		return fmt.Errorf("%s: the answer was not %s; with --yes, the command does not ask", undone, name)
	}
	return nil
}
