package webtest

import (
	"fmt"
	"os"
	"strings"
)

// axeFile is the checker of accessibility that `npm ci` puts next to the sources of the pages.
const axeFile = "../../web/node_modules/axe-core/axe.min.js"

// accessible fails the test for faults that axe calls serious or critical.
func (p *tab) accessible() {
	p.t.Helper()
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		p.t.Fatalf("axe-core comes with `make test-web`: %s", err)
	}
	// The page's own policy lets no script in; this one comes by the debugger, which ignores the policy.
	eval[bool](p, string(axe)+"; true")
	type violation struct{ ID, Impact, Help, At string }
	found := eval[[]violation](p, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, At: v.nodes.slice(0, 3).map(n => n.html).join("\n")})))`)
	var said strings.Builder
	for _, v := range found {
		fmt.Fprintf(&said, "%s (%s): %s\n%s\n", v.ID, v.Impact, v.Help, v.At)
	}
	if said.Len() > 0 {
		p.t.Errorf("axe finds:\n%s", said.String())
	}
}
