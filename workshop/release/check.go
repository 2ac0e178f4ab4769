package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// check holds two releases against each other and the checksums of both against their files. Then it unpacks the archive
// for this machine, and starts the program in it.
func check(one, other string) error {
	var lists []string
	for _, folder := range []string{one, other} {
		list, err := checkSums(folder)
		if err != nil {
			return err
		}
		lists = append(lists, list)
	}
	if lists[0] != lists[1] {
		return fmt.Errorf("the releases are not equal:\n%s%s", lists[0], lists[1])
	}
	fmt.Printf("equal, built twice:\n%s", lists[0])
	archives, err := filepath.Glob(filepath.Join(one, fmt.Sprintf("leaderboard_*_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("%d archives in %s are for this machine: %w", len(archives), one, err)
	}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	top, err := unpack(archives[0], dir)
	if err != nil {
		return err
	}
	if err := checkPackages(one, versionOf(archives[0])); err != nil {
		return err
	}
	return checkProgram(filepath.Join(dir, top), versionOf(archives[0]))
}

// checkSums compares the checksums of a release with its files and returns them. Every archive, list of parts and package
// has a checksum.
func checkSums(folder string) (string, error) {
	list, err := os.ReadFile(filepath.Join(folder, "checksums.txt"))
	if err != nil {
		return "", err
	}
	files := 0
	for line := range strings.Lines(string(list)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := os.ReadFile(filepath.Join(folder, name))
		if !ok || err != nil {
			return "", fmt.Errorf("%s: %q: %w", folder, line, err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			return "", fmt.Errorf("%s of %s is not what its checksum says", name, folder)
		}
		files++
	}
	if want := 2*len(targets()) + len(packageFormats())*len(packageTargets()); files != want {
		return "", fmt.Errorf("%s has %d checksums, want %d: an archive and a list of its parts for each of %q, and packages for those of Linux", folder, files, want, targets())
	}
	return string(list), nil
}

// unpack writes the files of an archive below dir and returns the folder that all of them are in.
func unpack(archive, dir string) (top string, err error) {
	f, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", archive, err)
	}
	files := tar.NewReader(zipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return top, nil
		}
		if err != nil {
			return "", fmt.Errorf("unpack %s: %w", archive, err)
		}
		first, rest, _ := strings.Cut(header.Name, "/")
		if top = first; !filepath.IsLocal(header.Name) || rest == "" || first+".tar.gz" != path.Base(archive) {
			return "", fmt.Errorf("%s has %s, which is not in its folder", archive, header.Name)
		}
		if header.Uname != "root" || header.Mode&0o022 != 0 {
			return "", fmt.Errorf("%s: %s belongs to %s, with mode %o", archive, header.Name, header.Uname, header.Mode)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return "", fmt.Errorf("unpack %s: %w", archive, err)
		}
		name := filepath.Join(dir, filepath.FromSlash(header.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, content, header.FileInfo().Mode().Perm()); err != nil {
			return "", err
		}
	}
}

// inEveryArchive are files that an archive must have, in addition to the program.
func inEveryArchive() []string {
	return []string{
		"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "THIRD-PARTY-LICENSES.txt", "docs/settings.md",
		"deploy/kubernetes/base/deployment.yaml", "deploy/helm/leaderboard/Chart.yaml", "deploy/systemd/leaderboard.service", "deploy/prometheus/leaderboard.rules.yml", "deploy/grafana/leaderboard.json",
		"completions/leaderboard.bash", "completions/_leaderboard", "completions/leaderboard.fish", "man/leaderboard.1",
	}
}

// checkProgram looks for the files of an unpacked archive, asks the program for its version, and lets it serve.
func checkProgram(folder, version string) error {
	for _, name := range inEveryArchive() {
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil || info.Size() == 0 {
			return fmt.Errorf("the archive lacks %s: %w", name, err)
		}
	}
	if err := checkDocuments(folder, version); err != nil {
		return err
	}
	program := filepath.Join(folder, programName)
	for ask, want := range map[string]string{
		"version":      "leaderboard version " + version + " (",
		"serve --help": "Usage: leaderboard serve",
	} {
		out, err := exec.Command(program, strings.Fields(ask)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			return fmt.Errorf("leaderboard %s: %w, want %q in: %s", ask, err, want, out)
		}
		line, _, _ := strings.Cut(string(out), "\n")
		fmt.Printf("leaderboard %s: %s\n", ask, line)
	}
	return checkDev(program)
}

// checkDocuments follows the links of the documents of an archive and looks which version its manual is of.
func checkDocuments(folder, version string) error {
	names, err := filesIn(os.DirFS(folder))
	if err != nil {
		return err
	}
	dead, err := deadLinks(os.DirFS(folder), names)
	if err != nil {
		return err
	}
	if len(dead) > 0 {
		return fmt.Errorf("links to what is not in the archive: %q", dead)
	}
	manual, err := os.ReadFile(filepath.Join(folder, "man", "leaderboard.1"))
	if err != nil {
		return err
	}
	title, _, _ := strings.Cut(string(manual), "\n")
	if !strings.Contains(strings.ReplaceAll(title, `\-`, "-"), "leaderboard "+version) {
		return fmt.Errorf("the manual begins with %s, want version %s", title, version)
	}
	fmt.Printf("%d files, whose links lead to each other; %s\n", len(names), title)
	return nil
}

// maxDev is how long `leaderboard dev` may take: to fetch servers, the first time, to start them, and to stop.
const maxDev = 5 * time.Minute

// devAddress finds the address in the output of `leaderboard dev`.
var devAddress = regexp.MustCompile(`The leaderboard is up: (http://\S+)`)

// checkDev runs `leaderboard dev`, asks for the demo board and stops it as Ctrl-C does.
func checkDev(program string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxDev)
	defer cancel()
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "dev", "--quiet-demo", "--listen", "127.0.0.1:0", "--dir", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay, cmd.Stderr = 30*time.Second, &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var problem error
	lines := bufio.NewScanner(out)
	for problem == nil && lines.Scan() {
		if m := devAddress.FindStringSubmatch(lines.Text()); m != nil {
			if problem = readDemo(ctx, m[1]); problem == nil {
				fmt.Println("leaderboard dev: it serves its demo board")
			}
			break
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		problem = errors.Join(problem, err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		problem = errors.Join(problem, err)
	}
	// Ctrl-C is how it is meant to end.
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 128+int(syscall.SIGINT) {
		problem = errors.Join(problem, fmt.Errorf("leaderboard dev: %w: %s", err, said.String()))
	}
	return problem
}

// readDemo asks a server for the first of its demo board.
func readDemo(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/boards/demo/top?limit=1", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"rank":1`)) {
		return fmt.Errorf("the demo board: %d %s: %w", response.StatusCode, body, err)
	}
	return nil
}
