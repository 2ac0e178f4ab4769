package quotas

import (
	"fmt"
	"strconv"
	"strings"

	"leaderboard/internal/settings"
	"leaderboard/leaderboard"
)

// Rates are how much one caller may use per second, on all servers together; 0 is unlimited. Unused amounts are saved up for
// leaderboard.QuotaWindow.
type Rates struct {
	Requests float64
	Rows     float64 // entries, friends and profiles written
	Heavy    float64 // units of heavy work, see docs/quotas.md
}

// byKind returns the rates by kind.
func (r Rates) byKind() [leaderboard.QuotaKinds]float64 {
	return [leaderboard.QuotaKinds]float64{r.Requests, r.Rows, r.Heavy}
}

// Settings are the quotas of callers without their own, by the tags of package settings.
type Settings struct {
	Keys      Rates `setting:"key-quota" section:"Quotas" value:"requests/rows/heavy" default:"20000/500000/500" doc:"requests/rows/heavy a second for a key without its own quota, on all servers together: requests, entries, friends and profiles written, units of heavy work; 0: any number"`
	Players   Rates `setting:"player-quota" value:"requests/rows/heavy" default:"100/20/20" doc:"requests/rows/heavy a second of a player with a token; rows are entries submitted"`
	Addresses Rates `setting:"address-quota" value:"requests/heavy" default:"1000/100" doc:"requests/heavy a second without a key from one IPv4 address or IPv6 /64 that is not this machine, once --trusted-proxies is given"`

	_ struct{} `setting:"key-requests" old:"key-quota"`
	_ struct{} `setting:"key-rows" old:"key-quota"`
	_ struct{} `setting:"key-heavy" old:"key-quota"`
	_ struct{} `setting:"player-requests" old:"player-quota"`
	_ struct{} `setting:"player-rows" old:"player-quota"`
	_ struct{} `setting:"player-heavy" old:"player-quota"`
	_ struct{} `setting:"address-requests" old:"address-quota"`
	_ struct{} `setting:"address-heavy" old:"address-quota"`
}

// Parsers implements settings.Parsers.
func (s *Settings) Parsers() map[string]func(string) error {
	k, p, a := &s.Keys, &s.Players, &s.Addresses
	return map[string]func(string) error{
		"key-quota":    parseRates(&k.Requests, &k.Rows, &k.Heavy),
		"player-quota": parseRates(&p.Requests, &p.Rows, &p.Heavy), "address-quota": parseRates(&a.Requests, &a.Heavy),
		"key-requests": settings.Into(&k.Requests, parseRate), "key-rows": settings.Into(&k.Rows, parseRate), "key-heavy": settings.Into(&k.Heavy, parseRate),
		"player-requests": settings.Into(&p.Requests, parseRate), "player-rows": settings.Into(&p.Rows, parseRate), "player-heavy": settings.Into(&p.Heavy, parseRate),
		"address-requests": settings.Into(&a.Requests, parseRate), "address-heavy": settings.Into(&a.Heavy, parseRate),
	}
}

func parseRate(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f == 0 || f >= 0.001 && f <= 1e9) {
		return 0, fmt.Errorf("want 0 or a number from 0.001 to 1000000000, not %q", v)
	}
	return f, nil
}

// parseRates returns a parser of a number per second for each of at, with slashes between them.
func parseRates(at ...*float64) func(string) error {
	defaults := make([]string, len(at))
	for i, f := range at {
		defaults[i] = strconv.FormatFloat(*f, 'f', -1, 64)
	}
	return func(v string) (err error) {
		numbers := strings.Split(v, "/")
		if len(numbers) != len(at) {
			return fmt.Errorf("want %d numbers such as %s, not %q", len(at), strings.Join(defaults, "/"), v)
		}
		for i, number := range numbers {
			if *at[i], err = parseRate(number); err != nil {
				return err
			}
		}
		return nil
	}
}
