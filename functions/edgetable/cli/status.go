package cli

// Exit statuses. They are the same for all commands. docs/data.md explains them for each
// command.
const (
	StatusDone   = 0
	StatusFailed = 1 // nothing was done, or a server stopped because of an error
	StatusUsage  = 2 // the command line is invalid; nothing was attempted
	StatusPart   = 3 // only a part was done; the same command resumes the work, or the output shows what is missing
	StatusDamage = 4 // the command worked, and found damage, a difference or another problem
)
