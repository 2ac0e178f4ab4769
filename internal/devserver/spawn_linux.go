package devserver

import "syscall"

// childAttr makes the kernel kill the child when the thread that starts it ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
