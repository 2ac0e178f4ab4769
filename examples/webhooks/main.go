// Command webhooks receives events of a leaderboard, verifies them and adds each once to a file, however often it is sent:
//
//	export WEBHOOK_SECRET=whsec_…   # as leaderboard endpoint put printed it
//	go run . events.jsonl           # listens on 127.0.0.1:8090, or on LISTEN
//
// An event and its id are one line, which is on the disk before the answer is sent. A program that is killed in between
// gets the event again, and finds its id.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// inbox is a file of events, one per line.
type inbox struct {
	key  []byte
	mu   sync.Mutex
	file *os.File
	has  map[string]bool // ids of the events in the file
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("WEBHOOK_SECRET is no secret of an endpoint")
	}
	in := &inbox{key: key, has: map[string]bool{}}
	if err := in.open(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	address := os.Getenv("LISTEN")
	if address == "" {
		address = "127.0.0.1:8090"
	}
	log.Fatal(http.ListenAndServe(address, in))
}

// open reads the ids of the file. A last line without an end was torn by a kill: its event was not answered and comes again.
func (in *inbox) open(name string) (err error) {
	if in.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return err
	}
	text, err := io.ReadAll(in.file)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(whole) {
		var event struct{ ID string }
		if err := json.Unmarshal(line, &event); err != nil {
			return err
		}
		in.has[event.ID] = true
	}
	return in.file.Truncate(int64(len(whole)))
}

func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	id := r.Header.Get("webhook-id")
	switch {
	case err != nil:
		http.Error(w, "the body did not come", http.StatusBadRequest)
	case !in.signed(id, r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), body):
		http.Error(w, "not signed by the secret, or not now", http.StatusUnauthorized)
	default:
		in.add(id, body)
		w.WriteHeader(http.StatusNoContent)
	}
}

// signed reports whether one of the signatures is by the secret, and not older than five minutes.
func (in *inbox) signed(id, timestamp, signatures string, body []byte) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age.Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, in.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	want := mac.Sum(nil)
	for s := range strings.FieldsSeq(signatures) {
		got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "v1,"))
		if err == nil && hmac.Equal(got, want) { // in constant time
			return true
		}
	}
	return false
}

// add adds an event to the file unless it is there already. It takes one at a time: an event may come twice at once.
func (in *inbox) add(id string, body []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.has[id] {
		return
	}
	_, err := in.file.Write(append(body, '\n'))
	if err == nil {
		err = in.file.Sync()
	}
	if err != nil {
		log.Fatal(err) // a part of a line may be there: the next start cuts it off
	}
	in.has[id] = true
}
