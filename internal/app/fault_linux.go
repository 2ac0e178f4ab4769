package app

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalSelf ends or stops the process before it does anything more in this goroutine: a signal to this very thread is
// delivered before the call returns. It cannot fail, the process is our own.
func signalSelf(sig syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}
