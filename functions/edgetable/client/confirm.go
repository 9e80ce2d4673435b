package client

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// confirm says what will be deleted and demands the name of the table.
func (p *program) confirm(table, says string) error {
	fmt.Fprintf(p.Err, "%s Type the name of the table: ", says)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err == io.EOF { // nobody has ended the line
		fmt.Fprintln(p.Err)
	} else if err != nil {
		return err
	}
	if strings.TrimSpace(line) != table {
		return fmt.Errorf("nothing is deleted: the answer was not %s; --yes does not ask", table)
	}
	return nil
}
