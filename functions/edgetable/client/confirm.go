package client

// confirm says what will be lost and demands the name of the table; else the error says
// what is not done.
func (p *program) confirm(table, says, undone string) error {
	return p.Confirm("table", table, says, undone)
}
