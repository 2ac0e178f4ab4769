package devserver

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// osRelease reads the assignments of an os-release file.
func osRelease(text string) map[string]string {
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[key] = strings.Trim(value, `"'`)
		}
	}
	return values
}

// sourcesList makes a sources.list from lines of "URI release component".
//
// On Debian only the suite sid carries MySQL itself, so that is the one used,
// from the mirror that serves the machine's own release. On Ubuntu every
// release has it, and the machine's own suites are used. With own they are on
// Debian too.
func sourcesList(release map[string]string, targets []string, own bool) (string, error) {
	slices.Sort(targets)
	targets = slices.Compact(targets)
	if isUbuntu(release) {
		return ubuntuSources(ubuntuCodename(release), targets)
	}
	archive, err := debianArchive(release, targets)
	if err != nil {
		return "", err
	}
	suite := "sid"
	if own {
		suite = cmp.Or(release["VERSION_CODENAME"], suite)
	}
	return fmt.Sprintf("deb %s%s %s main\n", signedBy(debianKeys), archive, suite), nil
}

// The files with the keys of the archives, on a machine of theirs and in their packages.
const (
	debianKeys = "/usr/share/keyrings/debian-archive-keyring.gpg"
	ubuntuKeys = "/usr/share/keyrings/ubuntu-archive-keyring.gpg"
)

// isUbuntu distinguishes Ubuntu and its derivatives from Debian.
func isUbuntu(release map[string]string) bool {
	return release["ID"] == "ubuntu" || strings.Contains(release["ID_LIKE"], "ubuntu")
}

func ubuntuCodename(release map[string]string) string {
	return cmp.Or(release["UBUNTU_CODENAME"], release["VERSION_CODENAME"])
}

// debianArchive returns the address of Debian's archive among the targets.
func debianArchive(release map[string]string, targets []string) (string, error) {
	best := ""
	for _, t := range targets {
		f := strings.Fields(t)
		if len(f) != 3 || f[2] != "main" || !debianRelease(f[1], release["VERSION_CODENAME"]) {
			continue
		}
		// Others may use the same release name; Debian's mirrors end in /debian.
		if best == "" || strings.HasSuffix(strings.TrimSuffix(f[0], "/"), "/debian") {
			best = f[0]
		}
	}
	if best == "" {
		return "", errors.New("no Debian archive among this machine's apt sources")
	}
	return best, nil
}

func debianRelease(name, codename string) bool {
	return name == codename || slices.Contains([]string{"stable", "oldstable", "testing", "unstable", "sid"}, name)
}

// ubuntuSources takes the archive itself and leaves out third parties, whose
// keys apt would need and who have no pockets for updates.
func ubuntuSources(codename string, targets []string) (string, error) {
	archive := ubuntuArchives(codename, targets)
	var b strings.Builder
	for _, t := range targets {
		if f := strings.Fields(t); len(f) == 3 && archive[f[0]] && (f[2] == "main" || f[2] == "universe") {
			fmt.Fprintf(&b, "deb %s%s %s %s\n", signedBy(ubuntuKeys), f[0], f[1], f[2])
		}
	}
	if b.Len() == 0 {
		return "", errors.New("no Ubuntu archive among this machine's apt sources")
	}
	return b.String(), nil
}

// ubuntuArchives returns the addresses of the archive among the targets: it has pockets for updates.
func ubuntuArchives(codename string, targets []string) map[string]bool {
	archives := make(map[string]bool)
	for _, t := range targets {
		if f := strings.Fields(t); len(f) == 3 && (f[1] == codename+"-updates" || f[1] == codename+"-security") {
			archives[f[0]] = true
		}
	}
	return archives
}

// signedBy returns the option that names the archive's keys; without the file apt
// uses all the keys this machine trusts.
func signedBy(keyring string) string {
	if _, err := os.Stat(keyring); err != nil {
		return ""
	}
	return "[signed-by=" + keyring + "] "
}
