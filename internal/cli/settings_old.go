package cli

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/features/pages"
	"leaderboard/internal/app"
)

// oldFlags returns the settings that go with the next release.
func (p *program) oldFlags(cfg *app.Config) []cli.Flag {
	face := &cfg.Face
	return []cli.Flag{
		whole(p.old("batch-rows", ""), &cfg.BatchRows, 1, 10_000),
		duration(p.old("write-wait", ""), &cfg.WriteWait, time.Millisecond),
		duration(p.old("key-ttl", ""), &cfg.KeyTTL, time.Minute),
		choice(p.old("audit-profiles", ""), &cfg.AuditProfiles, app.AuditProfilesAll, app.AuditProfilesPeople),
		whole(p.old("fallback-concurrent", ""), &cfg.FallbackConcurrent, 1, 10_000),
		duration(p.old("read-wait", ""), &cfg.ReadWait, time.Millisecond),
		toggle(p.old("private-issuers", "allow-private-addresses"), &cfg.PrivateIssuers),
		toggle(p.old("private-endpoints", "allow-private-addresses"), &cfg.PrivateEndpoints),
		rate(p.old("key-requests", "key-quota"), &cfg.KeyQuota.Requests),
		rate(p.old("key-rows", "key-quota"), &cfg.KeyQuota.Rows),
		rate(p.old("key-heavy", "key-quota"), &cfg.KeyQuota.Heavy),
		rate(p.old("player-requests", "player-quota"), &cfg.PlayerQuota.Requests),
		rate(p.old("player-rows", "player-quota"), &cfg.PlayerQuota.Rows),
		rate(p.old("player-heavy", "player-quota"), &cfg.PlayerQuota.Heavy),
		rate(p.old("address-requests", "address-quota"), &cfg.AddressQuota.Requests),
		rate(p.old("address-heavy", "address-quota"), &cfg.AddressQuota.Heavy),
		newChecked(p.old("site-title", "site"), &face.Title, pages.CheckTitle),
		custom(p.old("site-accent", "site"), &face.Accent, pages.ParseAccent),
		custom(p.old("site-logo", "site"), &face.Logo, pages.ReadLogo),
		newChecked(p.old("site-footer", "site"), &face.Footer, pages.CheckFooter),
		custom(p.old("site-logos", "site"), &face.Logos, pages.ReadLogos),
		newChecked(p.old("site-language", "site"), &cfg.Language, pages.CheckLanguage),
		text(p.old("picture-font", "site"), &cfg.PictureFont),
	}
}

// logger makes the log of a server. It begins with the settings that were given and go with the next release.
func (p *program) logger(cfg *app.Config) *slog.Logger {
	log := app.NewLogger(p.err, cfg)
	for _, old := range p.oldGiven() {
		log.Warn("this setting goes with the next release", "setting", old.place, "instead", cmp.Or(old.instead, "nothing"))
	}
	return log
}

// oldFindings returns a warning for each setting that was given and goes with the next release.
func (p *program) oldFindings() (findings []app.Finding) {
	for _, old := range p.oldGiven() {
		f := app.Finding{Check: "settings", State: app.FindingStateWarning, Found: old.place + " goes with the next release", Remedy: "leave it out"}
		if old.instead != "" {
			f.Remedy = "give --" + old.instead + " in its place"
		}
		findings = append(findings, f)
	}
	return findings
}
