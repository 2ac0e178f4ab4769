//go:build !linux

package client_test

import "syscall"

func diesWithParent() *syscall.SysProcAttr { return nil }
