package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
)

func (p *program) serveCommand() *cli.Command {
	cfg, check, json := app.Defaults(), false, false
	var flags []cli.Flag
	config := p.configFlag(func() []string { return settingNames(flags) })
	flags = slices.Concat([]cli.Flag{config}, p.serverFlags(&cfg), p.serverFlags(&cfg, "migrate", "fault")) // the file first: the others look into it
	return p.leaf("serve", "serve the API", "", func(ctx context.Context, _ []string) error {
		switch {
		case check:
			return p.checkStart(ctx, &cfg, json)
		case json:
			return usagef("--json goes with --check; --log json makes the log JSON")
		default:
			return p.serve(ctx, &cfg)
		}
	}, append(flags,
		&cli.BoolFlag{Name: "check", Category: mainSection, Usage: "do not serve: check all that a start needs, change nothing, and say what is wrong; status 1 when it would not start", Destination: &check},
		jsonFlag(&json))...)
}

// settingNames returns the names of the flags that a file of settings may have.
func settingNames(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		if name := f.Names()[0]; name != "config" {
			names = append(names, name)
		}
	}
	return names
}

// readServing completes the settings of a process that serves, and fails when they do not fit together.
func (p *program) readServing(cfg *app.Config) error {
	return cmp.Or(needMySQL(cfg), needProxies(cfg), needBothFiles(cfg), needSettings(cfg), p.readTracing(cfg))
}

// serve runs the service until ctx ends.
func (p *program) serve(ctx context.Context, cfg *app.Config) error {
	if err := p.readServing(cfg); err != nil {
		return err
	}
	a, err := app.New(ctx, *cfg, p.logger(cfg))
	if err != nil {
		return err
	}
	return a.Run(ctx, p.env, nil, func(context.Context) error { return nil })
}

// startView is the answer of --check.
type startView struct {
	Starts bool          `json:"starts"`
	Checks []app.Finding `json:"checks"`
}

// checkStart prints the checks of a start.
func (p *program) checkStart(ctx context.Context, cfg *app.Config, json bool) error {
	if err := p.readServing(cfg); err != nil {
		return err
	}
	findings, err := app.Check(ctx, *cfg)
	if err != nil {
		return err
	}
	findings = append(p.oldFindings(), findings...)
	failed := 0
	for _, f := range findings {
		if f.State == app.FindingStateFailed {
			failed++
		}
	}
	if json {
		err = terminal.PrintJSON(p.out, startView{failed == 0, findings})
	} else {
		err = p.printFindings(findings)
	}
	switch {
	case err != nil || failed == 0:
		return err
	case json:
		return errQuiet
	default:
		return fmt.Errorf("it would not start: repair the failed checks above")
	}
}

// printFindings prints a line for each finding. A line is not cut: its end has the remedy.
func (p *program) printFindings(findings []app.Finding) error {
	ink := map[app.FindingState]terminal.Ink{app.FindingStateOK: terminal.InkGreen, app.FindingStateFailed: terminal.InkRed, app.FindingStateWarning: terminal.InkBold}
	for _, f := range findings {
		text := f.Found
		if f.Remedy != "" {
			text += ": " + f.Remedy
		}
		state := terminal.Paint(p.out, ink[f.State], fmt.Sprintf("%-7s", f.State))
		if _, err := fmt.Fprintf(p.out, "%s  %-10s  %s\n", state, f.Check, terminal.Printable(text)); err != nil {
			return err
		}
	}
	return nil
}

// readTracing reads OpenTelemetry's own variables.
func (p *program) readTracing(cfg *app.Config) (err error) {
	if cfg.Tracing, err = app.ReadTracing(p.env); err != nil {
		return usagef("%s", err)
	}
	return nil
}

func (p *program) healthCommand() *cli.Command {
	cfg, r, ready := app.Defaults(), p.remote(), false
	return p.leaf("health", "ask whether a server works: the server of this machine by --listen, else the server at --url; status 1 when it does not", "",
		func(ctx context.Context, _ []string) error {
			byURL, err := r.isMeant("listen", "tls-cert")
			if err != nil {
				return err
			}
			var options []client.Option
			if !byURL {
				r.url = "http://" + reachable(cfg.Listen)
				options = append(options, client.WithKey("")) // health needs none, and this connection is not verified
			}
			if !byURL && cfg.TLSCert != "" {
				r.url = "https://" + reachable(cfg.Listen)
				// It is this machine's server, by an address that is in no certificate. Clients check the certificate, not this command.
				options = append(options, client.WithHTTPClient(overTLS(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})))
			}
			c, err := r.connect(options...)
			if err != nil {
				return err
			}
			ask := c.Live
			if ready {
				ask = c.Ready
			}
			return r.health(ctx, ask)
		},
		append(append(r.flags(), p.serverFlags(&cfg, "listen", "tls-cert")...),
			&cli.BoolFlag{Name: "ready", Usage: "ask whether requests should be sent to it, which is no reason to restart it", Destination: &ready})...)
}

// health asks a server for its health, as the health check of a container does.
func (r *remote) health(ctx context.Context, ask func(context.Context) (client.Health, error)) error {
	state, err := ask(ctx)
	if err != nil && state.Status == "" {
		if _, away := errors.AsType[*url.Error](err); away || errors.Is(err, client.ErrTimeout) {
			return explainTimeout(fmt.Errorf("it does not answer: %w", err))
		}
		return fmt.Errorf("%s is no leaderboard server", r.url)
	}
	line := []string{state.Status}
	for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
		line = append(line, name+": "+terminal.Printable(state.Checks[name]))
	}
	text := strings.Join(line, ", ")
	switch {
	case r.json:
		if shown := terminal.PrintJSON(r.out, state); shown != nil || err == nil {
			return shown
		}
		return errQuiet
	case err != nil:
		return errors.New(text)
	default:
		_, err = fmt.Fprintln(r.out, text)
		return err
	}
}

// reachable turns an address to listen on into one to connect to.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func (p *program) versionCommand() *cli.Command {
	json := false
	return p.leaf("version", "print the version and commit", "", func(context.Context, []string) error {
		info := app.ReadBuildInfo()
		if json {
			return terminal.PrintJSON(p.out, info)
		}
		_, err := fmt.Fprintln(p.out, "leaderboard version", info) // as --version does
		return err
	}, jsonFlag(&json))
}
