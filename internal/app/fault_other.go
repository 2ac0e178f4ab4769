//go:build unix && !linux

package app

import "syscall"

// signalSelf ends or stops the process; this goroutine may run for a moment longer.
func signalSelf(sig syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), sig) }
