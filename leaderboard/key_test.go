package leaderboard

import (
	"crypto/sha256"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestParseScope(t *testing.T) {
	for _, s := range []string{"read", "write", "admin"} {
		if got, err := ParseScope(s); err != nil || string(got) != s {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "Admin", "root", "read "} {
		if _, err := ParseScope(s); err == nil {
			t.Errorf("%q is a scope", s)
		}
	}
	if !ScopeRead.Includes("") || ScopeRead.Includes(ScopeWrite) || !ScopeAdmin.Includes(ScopeWrite) || Scope("").Includes(ScopeRead) || Scope("root").Includes(ScopeRead) {
		t.Error("the order of the scopes is wrong")
	}
}

// TestKeyText: the text of a key has its id in it, 160 random bits, and one hash; no other text is a key.
func TestKeyText(t *testing.T) {
	id := NewKeyID()
	text, hash := NewKeySecret(id)
	if got, ok := KeyIDIn(text); !ok || got != id || !hash.Is(new(HashKey(text))) {
		t.Errorf("%s: %s, %t", text, got, ok)
	}
	again, other := NewKeySecret(id)
	if again == text || other.Is(&hash) || NewKeyID() == id {
		t.Error("two are the same")
	}
	if secret := text[strings.LastIndex(text, "_")+1:]; len(secret)*5 != 160 {
		t.Errorf("the secret %q has %d bits", secret, len(secret)*5)
	}
	for _, bad := range []string{
		"", "lbk_", text[1:], text + "a", strings.ToUpper(text), strings.Replace(text, "_", "-", 2), "lbk_" + strings.Repeat("_", len(text)-4),
		strings.Replace(text, "lbk_k", "lbk_x", 1), text[:len(text)-1] + "1",
	} {
		if id, ok := KeyIDIn(bad); ok {
			t.Errorf("%q is a key, of id %q", bad, id)
		}
	}
}

func TestKeyCovers(t *testing.T) {
	k := Key{Boards: []string{"game1-*", "lobby"}}
	for board, want := range map[string]bool{"game1-": true, "game1-a": true, "lobby": true, "lobby2": false, "game2-a": false, "game1": false, "": false, "*": false} {
		if k.Covers(board) != want {
			t.Errorf("%q covered: %t", board, !want)
		}
	}
	if all := (Key{}); all.Limited() || !all.Covers("game2-a") || !k.Limited() {
		t.Error("a key without boards is for all of them")
	}
}

// TestKeyHash: hashes are compared in constant time, every bit of them, and in no other way (promise G2): == does not compile,
// and no other package gets at the bytes but by Value, for the database.
func TestKeyHash(t *testing.T) {
	kind := reflect.TypeOf(KeyHash{})
	if kind.Comparable() {
		t.Error("== takes two hashes")
	}
	for i := range kind.NumField() {
		if f := kind.Field(i); f.IsExported() {
			t.Errorf("the field %s can be compared by anyone", f.Name)
		}
	}
	source, err := os.ReadFile("key.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), ".sum[:]"); n != 4 || !strings.Contains(string(source), "return subtle.ConstantTimeCompare(h.sum[:], other.sum[:]) == 1\n") {
		t.Errorf("the bytes of hashes are used %d times, want 4: by Is in constant time, by Value and by Scan", n)
	}
	hash := HashKey("a")
	stored, err := hash.Value()
	if err != nil {
		t.Fatal(err)
	}
	var again KeyHash
	if err := again.Scan(stored); err != nil || !again.Is(&hash) {
		t.Errorf("stored it is another one: %v", err)
	}
	for bit := range 8 * sha256.Size {
		other := hash
		if other.sum[bit/8] ^= 1 << (bit % 8); other.Is(&hash) || hash.Is(&other) {
			t.Errorf("bit %d is not compared", bit)
		}
	}
	if err := again.Scan(nil); err != nil || again.Is(&hash) || !again.Is(new(KeyHash)) {
		t.Errorf("NULL is the hash of a key: %v", err)
	}
	for _, bad := range []any{make([]byte, sha256.Size+1), "a", 7} {
		if err := again.Scan(bad); err == nil {
			t.Errorf("%v is read as a hash", bad)
		}
	}
}

// TestKeyExpiry: a change cannot set an end that has passed, and keeps the end that was set.
func TestKeyExpiry(t *testing.T) {
	for _, c := range []struct {
		was, is Micros
		ok      bool
	}{{0, 0, true}, {0, 101, true}, {0, 100, false}, {0, 99, false}, {90, 90, true}, {90, 0, true}, {90, 91, false}, {90, 200, true}, {200, 100, false}} {
		k := Key{ExpiresAt: c.is, UpdatedTime: 100}
		if err := k.CheckExpiry(c.was); (err == nil) != c.ok {
			t.Errorf("from %d to %d at 100: %v", c.was, c.is, err)
		}
	}
}

func TestKeyCheck(t *testing.T) {
	good := Key{Name: "game1 backend", Scope: ScopeWrite, Boards: []string{"game1-*", "a"}, ExpiresAt: MaxTime, Quota: Quota{1, MaxKeyRows}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for pointer, change := range map[string]func(*Key){
		"/name":                      func(k *Key) { k.Name = "a\nb" },
		"/scope":                     func(k *Key) { k.Scope = "root" },
		"/boards":                    func(k *Key) { k.Boards = make([]string, MaxKeyBoards+1) },
		"/boards/1":                  func(k *Key) { k.Boards = []string{"a", "*"} },
		"/boards/0":                  func(k *Key) { k.Boards = []string{"a*b"} },
		"/expires_at":                func(k *Key) { k.ExpiresAt = Forever },
		"/quota/requests_per_second": func(k *Key) { k.Quota.RequestsPerSecond = MaxKeyRequests + 1 },
		"/quota/rows_per_second":     func(k *Key) { k.Quota.RowsPerSecond = -1 },
	} {
		bad := good
		change(&bad)
		rule := AsRule(bad.Check())
		if rule == nil || rule.Fields[0].Pointer != pointer || rule.Code != CodeInvalidKey {
			t.Errorf("%s: %v", pointer, rule)
		}
	}
	none, never := []string{}, Micros(0)
	changed, err := good.With(KeyChange{Boards: &none, ExpiresAt: &never})
	if err != nil || changed.Limited() || changed.ExpiresAt != 0 || changed.Name != good.Name || changed.Quota != good.Quota {
		t.Errorf("%+v, %v", changed, err)
	}
}
