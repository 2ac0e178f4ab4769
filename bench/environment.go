package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
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

// environment asks the machine and the servers.
func (w *world) environment(ctx context.Context) (environment, error) {
	memory, err := machineMemory()
	if err != nil {
		return environment{}, err
	}
	e := environment{
		Cores: runtime.GOMAXPROCS(0), MemoryGB: float64(memory) / (1 << 30), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Redis: w.redis.Version,
	}
	db, err := sql.Open("mysql", w.mysql.DSN)
	if err != nil {
		return e, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&e.MySQL)
	return e, err
}

// machineMemory is the memory in bytes: that of the machine, or of the control group if that has less.
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
