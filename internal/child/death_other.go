//go:build !linux

package child

import "syscall"

// onDeathOfParent does nothing: only Linux ties the life of a child to the life of its parent.
func onDeathOfParent(*syscall.SysProcAttr, syscall.Signal) {}
