package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzNumbers: with quotes and without them again JSON means the same, and stays JSON.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte(`{"score":1,"fields":{"a":-2},"x":[{"score":"3"}],"attributes":{"score":4}}`))
	f.Add([]byte(`{"score" : 9223372036854775808,"sc\"ore":1,"limits":[1,2]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		quoted := AppendNumbers(nil, body, true)
		if json.Valid(body) != json.Valid(quoted) {
			t.Fatalf("%q became %q", body, quoted)
		}
		if json.Valid(body) && !bytes.Contains(body, []byte(`"`)) && !bytes.Equal(AppendNumbers(nil, quoted, false), body) {
			t.Fatalf("%q came back as %q", body, AppendNumbers(nil, quoted, false))
		}
	})
}
