// Command chart packs the Helm chart as helm package does, with the version of a release and the time of a commit in it, so that the same
// commit makes the same bytes. Names of files are below deploy.
//
//	chart FOLDER VERSION SECONDS
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: make chart")
		os.Exit(2)
	}
	seconds, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart: the time of the commit:", err)
		os.Exit(1)
	}
	name, err := pack("helm/leaderboard", os.Args[1], os.Args[2], time.Unix(seconds, 0).UTC())
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
	fmt.Println(name)
}

// tagged is a version by git describe: a tag, or a commit after one.
var tagged = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// pack writes the chart of a folder into the folder to and returns the name of the file. The chart has the tag's version,
// as v0.1.1, and uses the image of that tag; without a tag it keeps both of Chart.yaml.
func pack(folder, to, version string, at time.Time) (string, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return "", err
	}
	if tagged.MatchString(version) {
		chart.Metadata.Version, chart.Metadata.AppVersion = strings.TrimPrefix(version, "v"), version
	}
	chart.ModTime, chart.SchemaModTime = at, at
	for _, files := range [][]*common.File{chart.Raw, chart.Templates, chart.Files} {
		for _, file := range files {
			file.ModTime = at
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	return util.Save(chart, to)
}
