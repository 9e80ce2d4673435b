package cli

// Exit statuses, the same for all commands. docs/data.md has a table of what they mean for each.
const (
	StatusDone   = 0
	StatusFailed = 1 // nothing was done, or a server stopped for an error
	StatusUsage  = 2 // the command line is wrong; nothing was tried
	StatusPart   = 3 // a part is done: run the same command to resume, or the output says what is missing
	StatusDamage = 4 // damage, a difference or a finding: the command did its work, and what it looked at is not well
)
