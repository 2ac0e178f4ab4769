//go:build !linux

package apptest

import "syscall"

// diesWithParent is for Linux.
func diesWithParent() *syscall.SysProcAttr { return nil }
