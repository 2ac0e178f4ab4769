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
)

// machineOf describes the hardware and the system that the figures depend on. It names no machine.
func machineOf(ctx context.Context, db *sql.DB, redisVersion string) (string, error) {
	memory, err := machineMemory()
	if err != nil {
		return "", err
	}
	var mysql string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&mysql); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d cores, %.0f GB, %s/%s, %s, MySQL %s, %s", runtime.GOMAXPROCS(0), float64(memory)/(1<<30),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), mysql, redisVersion), nil
}

// machineMemory returns the memory of the machine in bytes, or of the control group if it has less.
func machineMemory() (int64, error) {
	kb, err := kernelNumber("/proc/meminfo", "MemTotal:")
	if err != nil {
		return 0, err
	}
	memory := kb << 10
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			memory = min(memory, n)
		}
	}
	return memory, nil
}

// kernelNumber returns the number of a line such as "MemTotal: 123 kB" in a file of the kernel.
func kernelNumber(file, name string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			return strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s does not say %s", file, name)
}

// peakMemory returns the most memory that a process had, in 2^20 bytes.
func peakMemory(pid int) (float64, error) {
	kb, err := kernelNumber(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:")
	return float64(kb) / 1024, err
}

// memoryNow returns the memory that a process has, in bytes.
func memoryNow(pid int) (int64, error) {
	kb, err := kernelNumber(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	return kb << 10, err
}

// cpuOf returns the processor time of a process so far, of the user and of the system.
func cpuOf(pid int) (cpu time.Duration, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const utime, stime = 11, 12 // counted from the state, which follows the name of the program in brackets
	const tick = 10 * time.Millisecond
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{utime, stime} {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		cpu += time.Duration(ticks) * tick
	}
	return cpu, nil
}
