package child

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestOutlivesTheStartingThread: a child lives on when the thread ends whose goroutine called Start.
func TestOutlivesTheStartingThread(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var cat *Process
	threads, done := make(chan int), make(chan struct{})
	defer close(done)
	var begin func()
	begin = func() {
		runtime.LockOSThread()
		if syscall.Gettid() == os.Getpid() { // the main thread never ends: while it is held, another thread is used
			go begin()
			<-done
			runtime.UnlockOSThread()
			return
		}
		cat, err = Start(cmd, syscall.SIGTERM)
		threads <- syscall.Gettid() // the thread, still locked, ends with this goroutine
	}
	go begin()
	thread := <-threads
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread)); os.IsNotExist(err) {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the thread does not end")
		}
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cat.Wait(); err != nil {
		t.Errorf("the child died with the thread: %s", err)
	}
}
