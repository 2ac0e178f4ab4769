package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// cores returns the cores that this process may use.
func cores() (unix.CPUSet, error) {
	var set unix.CPUSet
	return set, unix.SchedGetaffinity(0, &set)
}

// split divides cores: the first one for the load, the others for the servers. A single core is shared.
func split(all unix.CPUSet) (forLoad, forServers unix.CPUSet) {
	forServers = all
	for core := range len(all) * strconv.IntSize {
		if all.IsSet(core) {
			forLoad.Set(core)
			if all.Count() > 1 {
				forServers.Clear(core)
			}
			break
		}
	}
	return forLoad, forServers
}

// pin lets all threads of a process, and the threads that they start, run on these cores only.
func pin(pid int, to unix.CPUSet) error {
	for range 2 { // a thread that was not pinned yet may have started another meanwhile
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return err
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(id, &to); err != nil && err != unix.ESRCH {
				return fmt.Errorf("pin process %d: %w", pid, err)
			}
		}
	}
	return nil
}

// pinned is the division of the machine between the load, which is this process, and the servers.
type pinned struct {
	all, forServers unix.CPUSet
	servers         []int // cores of the programs next to the service, several of them in turn
	procs           int   // of the load before
}

// pin divides the machine.
func (w *world) pin() (*pinned, error) {
	all, err := cores()
	if err != nil {
		return nil, err
	}
	forLoad, forServers := split(all)
	p := &pinned{all: all, forServers: forServers, servers: []int{w.mysql.PID, w.redis.PID}, procs: runtime.GOMAXPROCS(1)}
	err = pin(os.Getpid(), forLoad)
	for _, pid := range p.servers {
		if err == nil {
			err = pin(pid, forServers)
		}
	}
	return p, err
}

// end undoes the division.
func (p *pinned) end() error {
	runtime.GOMAXPROCS(p.procs)
	err := pin(os.Getpid(), p.all)
	for _, pid := range p.servers {
		if err == nil {
			err = pin(pid, p.all)
		}
	}
	return err
}
