package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Confirm prints a text and asks the user to type a name. The text is passed as the parameter says. The parameter kind
// contains the kind of the named thing, such as "table". If the user types something else, the error begins with the
// text in the parameter undone.
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
