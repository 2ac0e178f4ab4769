package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"leaderboard/internal/leaks"
)

func TestMain(m *testing.M) { os.Exit(leaks.Main(m)) }

// TestDoor: the door says so when the program was built without coverage.
func TestDoor(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "door")
	l, err := listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	for _, address := range []string{"http://house/clear", "http://house/write?dir=" + t.TempDir()} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s answers %s without coverage", address, answer.Status)
		}
	}
	if _, err := listen(socket); err == nil {
		t.Error("two programs listen on one socket")
	}
}
