package e2e

import "syscall"

// childAttr makes the kernel kill a child whose test process has died.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
