package transfer

import "testing"

// TestExportsAtOnce: a server with few connections makes one export at a time, as docs/transfer.md says.
func TestExportsAtOnce(t *testing.T) {
	for conns, want := range map[int]int{16: 1, 31: 1, 32: 2, 200: 2} {
		if got := atOnce(conns); got != want {
			t.Errorf("with %d connections %d exports at once, want %d", conns, got, want)
		}
	}
}
