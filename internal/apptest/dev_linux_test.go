package apptest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestDevOutlivesTheStartingThread: the end of the thread that asked for a server is not the end of a parent.
func TestDevOutlivesTheStartingThread(t *testing.T) {
	t.Parallel()
	d := &Dev{cmd: exec.Command("cat")}
	input, err := d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	threads := make(chan int)
	go func() {
		runtime.LockOSThread() // for life: the thread ends with this goroutine
		err = d.start()
		threads <- syscall.Gettid()
	}()
	thread := <-threads
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(MaxWait); thread != os.Getpid(); <-time.After(time.Millisecond) { // the main thread never ends
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread)); os.IsNotExist(err) {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the thread does not end")
		}
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-d.ended; err != nil {
		t.Errorf("the program died with the thread: %s", err)
	}
}
