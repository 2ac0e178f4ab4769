//go:build unix && !linux

package devserver

import "syscall"

// childAttr gives the child a process group of its own. Only Linux can tie its
// life to ours: elsewhere a child outlives a parent that was killed with -9.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
