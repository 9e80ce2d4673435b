package admission

import "golang.org/x/sys/unix"

// yield lets other threads that wait for this processor go first. Without it they wait for
// the end of the kernel's own slice, of several milliseconds.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
