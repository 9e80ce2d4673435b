package cli

// Exit statuses of all commands. docs/data.md explains them.
const (
	StatusDone   = 0
	StatusFailed = 1 // nothing was done, or a server stopped because of an error
	StatusUsage  = 2 // invalid command line; nothing was attempted
	StatusPart   = 3 // only a part was done; the same command resumes, or the output lists what is missing
	StatusDamage = 4 // the command found damage, a difference or another problem
)
