package client

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// confirm says what will be lost and demands the name of the table; else the error says
// what is not done.
func (p *program) confirm(table, says, undone string) error {
	fmt.Fprintf(p.Err, "%s Type the name of the table: ", says)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err == io.EOF { // nobody has ended the line
		fmt.Fprintln(p.Err)
	} else if err != nil {
		return err
	}
	if strings.TrimSpace(line) != table {
		return fmt.Errorf("%s: the answer was not %s; --yes does not ask", undone, table)
	}
	return nil
}
