// Package progressfile implements files that record the progress of a command. After an interruption, the same command
// resumes from its progress file.
package progressfile
