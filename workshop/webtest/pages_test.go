package webtest

import "testing"

// TestPages opens each page as people do: nothing is wider than the screen, and axe finds nothing serious.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/boards/demo", "/console", "/docs", "/docs/start", "/docs/benchmarks", "/problems/not-ranked"} {
		for name, s := range screens() {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				p := open(t, s, path)
				p.await("document.querySelector('h1')")
				p.fits()
				p.accessible()
			})
		}
	}
}
