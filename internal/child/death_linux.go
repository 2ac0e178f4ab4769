package child

import "syscall"

func onDeathOfParent(attr *syscall.SysProcAttr, death syscall.Signal) { attr.Pdeathsig = death }
