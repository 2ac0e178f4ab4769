package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// flushSource is a library in C that, loaded ahead of the C library, makes each flush of a file take longer: by the microseconds
// in BENCH_FLUSH.
const flushSource = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int flush(const char *name, int file)
{
	const char *wait = getenv("BENCH_FLUSH");
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
	usleep(wait ? atoi(wait) : 0);
	return next(file);
}

int fsync(int file) { return flush("fsync", file); }
int fdatasync(int file) { return flush("fdatasync", file); }
`

// sharedMemory is where Linux keeps files in memory.
const sharedMemory = "/dev/shm"

// measureFlush holds submits against SQL loops as measureWrites does, on disks whose flush takes a given time: data in memory, and
// a library that waits.
func (w *world) measureFlush(ctx context.Context, rep *report) error {
	dir, err := os.MkdirTemp(sharedMemory, "leaderboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	library := filepath.Join(dir, "flush.so")
	if err := compile(ctx, library, flushSource); err != nil {
		return err
	}
	for _, flush := range []time.Duration{100 * time.Microsecond, 3 * time.Millisecond} {
		o := w.options
		o.dir = filepath.Join(dir, flush.String())
		env := []string{"LD_PRELOAD=" + library, "BENCH_FLUSH=" + strconv.FormatInt(flush.Microseconds(), 10)}
		if err := w.measureFlushOf(ctx, rep, o, flush, env); err != nil {
			return fmt.Errorf("flushes of %s: %w", flush, err)
		}
	}
	return nil
}

// compile makes a shared library of C.
func compile(ctx context.Context, library, source string) error {
	cmd := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-O2", "-x", "c", "-o", library, "-", "-ldl")
	cmd.Stdin = strings.NewReader(source)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cc: %w\n%s", err, said.Bytes())
	}
	return nil
}

// measureFlushOf adds the rows of one disk.
func (w *world) measureFlushOf(ctx context.Context, rep *report, o options, flush time.Duration, env []string) error {
	slow, err := newWorld(ctx, o, w.log, env...)
	if err != nil {
		return err
	}
	defer slow.close()
	slow.members = w.members
	if err := slow.serve(ctx); err != nil {
		return err
	}
	if err := slow.plainTable(ctx); err != nil {
		return err
	}
	where := fmt.Sprintf("flushes of %s: ", flush)
	if err := slow.measureSingle(ctx, rep, where); err != nil {
		return err
	}
	return slow.measureBoardsAtOnce(ctx, rep, where)
}
