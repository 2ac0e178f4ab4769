package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"leaderboard/internal/devserver"
)

const (
	bytesPerRow = 250       // of an entry in both of its indexes, with room for pages that are not full
	leastPool   = 128 << 20 // bytes of the buffer pool
	poolShare   = 3         // it gets a third of the memory at most
)

// environment is what figures depend on besides the code. It names no machine.
type environment struct {
	Cores    int     `json:"cores"`
	MemoryGB float64 `json:"memory_gb"` // 2^30 bytes
	System   string  `json:"system"`    // as in linux/amd64
	Go       string  `json:"go"`
	MySQL    string  `json:"mysql"`
	Redis    string  `json:"redis"` // with its name, which may be Valkey
}

func (e environment) String() string {
	return fmt.Sprintf("%d cores, %.0f GB of memory, %s, %s, MySQL %s, %s", e.Cores, e.MemoryGB, e.System, e.Go, e.MySQL, e.Redis)
}

// environmentOf asks the machine and the servers.
func environmentOf(ctx context.Context, mysql, redis *devserver.Server) (environment, error) {
	memory, err := machineMemory()
	if err != nil {
		return environment{}, err
	}
	e := environment{
		Cores: runtime.GOMAXPROCS(0), MemoryGB: float64(memory) / (1 << 30), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Redis: redis.Version,
	}
	db, err := sql.Open("mysql", mysql.DSN)
	if err != nil {
		return e, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&e.MySQL)
	return e, err
}

// machineMemory returns the memory in bytes: that of the machine, or of the control group if that has less.
func machineMemory() (int64, error) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	memory, err := memTotal(string(info))
	if err != nil {
		return 0, err
	}
	limit, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return memory, nil //nolint:nilerr // there is no such limit
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
		memory = min(memory, n)
	}
	return memory, nil
}

// memTotal reads the line "MemTotal: 123 kB" of /proc/meminfo, in bytes.
func memTotal(info string) (int64, error) {
	for line := range strings.Lines(info) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			break
		}
		kb, err := strconv.ParseInt(fields[0], 10, 64)
		return kb << 10, err
	}
	return 0, fmt.Errorf("/proc/meminfo does not say how much memory there is")
}

// growPool makes MySQL's buffer pool large enough for the tables of a run, so that the figures show the work and not
// the disk.
func growPool(ctx context.Context, mysql *devserver.Server, o *options) error {
	db, err := sql.Open("mysql", mysql.DSN+"?interpolateParams=true")
	if err != nil {
		return err
	}
	defer db.Close()
	memory, err := machineMemory()
	if err != nil {
		return err
	}
	sizes := append(indexSizes(o.members, o.huge), o.members, o.members, o.members, o.members) // the boards behind HTTP and a yardstick
	_, err = db.ExecContext(ctx, "SET GLOBAL innodb_buffer_pool_size = ?", poolSize(sizes, memory))
	return err
}

// poolSize returns the buffer pool in bytes that boards of these sizes want on a machine with so many bytes.
func poolSize(sizes []int, memory int64) int64 {
	want := int64(leastPool)
	for _, n := range sizes {
		want += int64(n) * bytesPerRow
	}
	return max(leastPool, min(want, memory/poolShare))
}

// usage is what the kernel says of a process.
type usage struct {
	rssMB float64       // resident memory, 2^20 bytes
	cpu   time.Duration // user and system time so far
}

// processUsage reads /proc; the clock ticks 100 times a second on Linux.
func processUsage(pid int) (usage, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, err
	}
	var u usage
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				return usage{}, err
			}
			u.rssMB = kb / 1024
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{11, 12} { // utime, stime
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return usage{}, err
		}
		u.cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	return u, nil
}
