package index

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestMissingSaysWhatIsLeft: by the pace of the build, the time that has passed since the last news, and the pause after a failure (promise C7).
func TestMissingSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		want := func(what string, m *Missing, d time.Duration) {
			t.Helper()
			if got := m.Left(time.Now()); got.Round(time.Millisecond) != d {
				t.Errorf("%s: %s left, want %s", what, got, d)
			}
		}
		m := &Missing{}
		m.setEntries(1_000_000)
		want("before it began", m, 2*time.Second)
		m.try()
		if loading := m.Tried(); loading == nil || m.Loads() != time.Now().Add(loadWait) {
			t.Error("it does not say that it loads")
		}
		m.build()
		m.progress(100_000, 1_000_000)
		want("with no pace yet", m, 2*time.Second)
		time.Sleep(3 * time.Second)
		m.progress(400_000, 1_000_000)
		want("at 100,000 a second", m, 6*time.Second)
		time.Sleep(time.Second)
		want("a second later", m, 5*time.Second)
		building := m.Tried()
		m.end(time.Now().Add(retryPause))
		select {
		case <-building:
		default:
			t.Error("the end of the attempt is not told")
		}
		want("after a failure", m, retryPause+2*time.Second)
		if m.Tried() != nil || m.Found() {
			t.Error("it says that it is tried, or found")
		}
		if m.find(); !m.Found() {
			t.Error("it is not found")
		}
	})
}
