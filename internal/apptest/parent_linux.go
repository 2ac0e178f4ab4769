package apptest

import "syscall"

// diesWithParent keeps no server behind a test process that was killed.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
