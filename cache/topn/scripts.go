package cache

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

// The scripts, each beside its description of arguments and reply. head.lua goes ahead of those that look at a copy.
var (
	//go:embed head.lua
	headLua string
	//go:embed page.lua
	pageLua string
	//go:embed members.lua
	membersLua string
	//go:embed held.lua
	heldLua string
	//go:embed score.lua
	scoreLua string
	//go:embed info.lua
	infoLua string
	//go:embed clone.lua
	cloneLua string
	//go:embed apply.lua
	applyLua string
	//go:embed publish.lua
	publishLua string
	//go:embed drop.lua
	dropLua string
	//go:embed touch.lua
	touchLua string
	//go:embed extend.lua
	extendLua string
	//go:embed release.lua
	releaseLua string
)

type scripts struct {
	page, members, held, score, info   *redis.Script // read only
	apply, publish, drop, touch, clone *redis.Script
	extend, release                    *redis.Script
}

func newScripts() scripts {
	return scripts{
		page:    redis.NewScript(headLua + pageLua),
		members: redis.NewScript(headLua + membersLua),
		held:    redis.NewScript(headLua + heldLua),
		score:   redis.NewScript(headLua + scoreLua),
		info:    redis.NewScript(headLua + infoLua),
		clone:   redis.NewScript(headLua + cloneLua),
		apply:   redis.NewScript(headLua + applyLua),
		publish: redis.NewScript(headLua + publishLua),
		drop:    redis.NewScript(dropLua),
		touch:   redis.NewScript(touchLua),
		extend:  redis.NewScript(extendLua),
		release: redis.NewScript(releaseLua),
	}
}
