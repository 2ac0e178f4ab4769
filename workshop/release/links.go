package main

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// notLinks are the parts of a document in which brackets mean something else; markdownLink finds the address of a link.
var (
	notLinks     = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]+`")
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)`)
)

// deadLinks returns the links of an archive's documents to files that it lacks, as "document: link". names are its files.
func deadLinks(folder fs.FS, names []string) ([]string, error) {
	var dead []string
	for _, name := range names {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		for _, m := range markdownLink.FindAllSubmatch(notLinks.ReplaceAll(text, nil), -1) {
			link := string(m[1])
			file, _, _ := strings.Cut(link, "#")
			if strings.Contains(link, ":") || file == "" { // to elsewhere, or in the document
				continue
			}
			if !slices.Contains(names, path.Join(path.Dir(name), file)) {
				dead = append(dead, name+": "+link)
			}
		}
	}
	return dead, nil
}

// filesIn lists the files below a folder.
func filesIn(folder fs.FS) (names []string, err error) {
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
