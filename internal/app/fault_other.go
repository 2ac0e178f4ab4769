//go:build unix && !linux

package app

import "syscall"

// signalSelf ends or stops the process; this goroutine may go on for a moment.
func signalSelf(sig syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), sig) }
