package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Confirm prints a message and asks the user to type a name. The parameter kind says what has this name, for example
// "table". If the user types anything else, Confirm returns an error that begins with the text in undone.
func (p *Terminal) Confirm(kind, name, text, undone string) error {
	fmt.Fprintf(p.Err, "%s Type the name of the %s: ", text, kind)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err == io.EOF { // the input ended without a newline
		fmt.Fprintln(p.Err)
	} else if err != nil {
		return err
	}
	if strings.TrimSpace(line) != name {
		return fmt.Errorf("%s: the answer was not %s; with --yes, the command does not ask", undone, name)
	}
	return nil
}
