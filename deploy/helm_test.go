package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const chartFolder = "helm/leaderboard"

// templates renders the chart as Helm does, by the names of its templates.
func templates(t *testing.T, release, values string) (map[string]string, error) {
	t.Helper()
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(chart, given(t, values), common.ReleaseOptions{Name: release, Namespace: "games", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

// given reads values. Numbers are float64, as --set-json makes them: of Helm's number types, this is the hardest to print.
func given(t *testing.T, values string) map[string]any {
	t.Helper()
	text, err := yaml.ToJSON([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// manifests renders the objects of the chart.
func manifests(t *testing.T, release, values string) []byte {
	t.Helper()
	files, err := templates(t, release, values)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(files[name]) != "" {
			fmt.Fprintf(&out, "---\n%s\n", files[name])
		}
	}
	return out.Bytes()
}

// rendered renders the objects of the chart, each decoded strictly into its type, without the objects for the Prometheus
// Operator.
func rendered(t *testing.T, release, values string) []runtime.Object {
	t.Helper()
	return decoded(t, manifests(t, release, values))
}

// example returns the values of the example.
func example(t *testing.T) string {
	t.Helper()
	values, err := os.ReadFile("helm/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(values)
}

// everything are values that turn on or change whatever the defaults leave out.
const everything = `
image: {tag: v9, pullPolicy: Always, pullSecrets: [registry]}
extraEnv: [{name: LEADERBOARD_OIDC_CLIENT_SECRET, valueFrom: {secretKeyRef: {name: oidc, key: secret}}}]
extraVolumes: [{name: site, configMap: {name: site}}]
extraVolumeMounts: [{name: site, mountPath: /site, readOnly: true}]
settings: {max-streams: 1000000, public-metrics: true, site: /site}
autoscaling: {enabled: false}
replicas: 3
podAnnotations: {example.com/a: b}
nodeSelector: {disk: fast}
tolerations: [{key: games, operator: Exists}]
affinity: {podAntiAffinity: {}}
ingress: {enabled: true, className: nginx, annotations: {example.com/c: d}}
serviceMonitor: {enabled: true, labels: {release: prometheus}}
prometheusRule: {enabled: true, labels: {release: prometheus}, runbooks: "https://other.example"}
`

// nothing are values that turn off whatever can be.
const nothing = `
autoscaling: {enabled: false}
disruption: {enabled: false}
migrate: {enabled: false}
refresh: {enabled: false}
networkPolicy: {enabled: false}
`

// TestHelmLint: Helm's own linter has no warning, as in helm lint --strict.
func TestHelmLint(t *testing.T) {
	for name, values := range map[string]string{"defaults": "", "example": example(t), "everything": everything, "nothing": nothing} {
		for _, message := range lint.RunAll(chartFolder, given(t, values), "games").Messages {
			if message.Severity >= support.WarningSev {
				t.Errorf("%s: %s", name, message)
			}
		}
	}
}

// plain returns objects as maps, by kind and name, without the parts in which the two ways to install differ.
func plain(t *testing.T, objects []runtime.Object) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var value map[string]any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		if value["kind"] == "Namespace" { // helm install --create-namespace makes it
			continue
		}
		meta := alike(value).(map[string]any)["metadata"].(map[string]any)
		delete(meta, "namespace") // it is an option of Helm's
		out[fmt.Sprint(value["kind"], " ", meta["name"])] = value
	}
	return out
}

// ownName is the name of a Secret of kustomize's or of a Job of the chart, with the hash of its content.
var ownName = regexp.MustCompile(`^(leaderboard)-[0-9a-z]{10}$|^(leaderboard-migrate)-[0-9a-f]{8}$`)

// alike removes from a value, which it changes, the labels that Helm's charts have by convention, the checksum by which the
// chart replaces servers when a secret changes, and hashes in names.
func alike(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			switch key {
			case "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart", "checksum/secret":
				delete(v, key)
				continue
			}
			if v[key] = alike(member); key == "annotations" && len(v[key].(map[string]any)) == 0 {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = alike(v[i])
		}
	case string:
		return ownName.ReplaceAllString(v, "$1$2")
	}
	return value
}

// TestHelmLikeKustomize: the chart makes the objects of kustomize, by default the objects of the base, and with values the
// objects of the example.
func TestHelmLikeKustomize(t *testing.T) {
	for dir, values := range map[string]string{
		"kubernetes/base":             "",
		"kubernetes/overlays/example": example(t),
	} {
		want, got := plain(t, built(t, dir)), plain(t, rendered(t, "leaderboard", values))
		if dir == "kubernetes/base" { // it has no registry
			image := chartImage(t)
			for _, pod := range pods(rendered(t, "leaderboard", values)) {
				if pod.Spec.Containers[0].Image != image {
					t.Errorf("the image is %s, want %s", pod.Spec.Containers[0].Image, image)
				}
			}
			got = plain(t, decoded(t, bytes.ReplaceAll(manifests(t, "leaderboard", values), []byte(image), []byte("leaderboard"))))
		}
		// The namespace of a release may have other pods; the namespace of kustomize is for the service alone.
		policy := want["NetworkPolicy leaderboard"].(map[string]any)["spec"].(map[string]any)
		policy["podSelector"] = map[string]any{"matchLabels": map[string]any{"app.kubernetes.io/name": "leaderboard"}}
		for _, name := range []string{"Secret leaderboard", "Ingress leaderboard"} { // the example's are without the label of the base
			if object, there := want[name].(map[string]any); there {
				object["metadata"].(map[string]any)["labels"] = map[string]any{"app.kubernetes.io/name": "leaderboard"}
			}
		}
		if w, g := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)); !slices.Equal(w, g) {
			t.Errorf("%s: the objects are\n%q, want\n%q", dir, g, w)
		}
		for name := range want {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("%s: %s is\n%s\nwant\n%s", dir, name, indented(got[name]), indented(want[name]))
			}
		}
	}
}

func indented(value any) string {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// chartImage returns the image that the chart names without values.
func chartImage(t *testing.T) string {
	t.Helper()
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(chart.Values["image"].(map[string]any)["repository"], ":", chart.Metadata.AppVersion)
}

// TestHelmMonitoring: the chart's objects for the Prometheus Operator equal the objects in prometheus, and its alerts are
// in a copy of that file. UPDATE_RULES=1 writes the copy.
func TestHelmMonitoring(t *testing.T) {
	rules, err := os.ReadFile("prometheus/leaderboard.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	const file = chartFolder + "/files/leaderboard.rules.yml"
	if os.Getenv("UPDATE_RULES") != "" {
		if err := os.WriteFile(file, rules, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if copied, err := os.ReadFile(file); err != nil || !bytes.Equal(copied, rules) {
		t.Errorf("%s is not prometheus/leaderboard.rules.yml: UPDATE_RULES=1 go test -C deploy -run TestHelmMonitoring; %v", file, err)
	}
	files, err := templates(t, "leaderboard", "serviceMonitor: {enabled: true}\nprometheusRule: {enabled: true}")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(files["leaderboard/templates/monitoring.yaml"], "\n---\n")
	for i, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
		var got, want map[string]any
		if err := yaml.Unmarshal([]byte(documents[i]), &got); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(monitoring(t, kind), &want); err != nil {
			t.Fatal(err)
		}
		delete(want["metadata"].(map[string]any), "namespace")
		if !reflect.DeepEqual(alike(got), alike(want)) {
			t.Errorf("%s is\n%s\nwant\n%s", kind, indented(got), indented(want))
		}
	}
	changed, err := templates(t, "leaderboard", everything)
	if err != nil {
		t.Fatal(err)
	}
	text := changed["leaderboard/templates/monitoring.yaml"]
	if strings.Contains(text, "scores.example") || strings.Count(text, "https://other.example/docs/alerts#") < 5 || strings.Count(text, "release: prometheus") != 2 {
		t.Errorf("values change neither addresses nor labels\n%s", text)
	}
}

// TestHelmReleases: two releases in a namespace share no name, and each finds its own pods alone.
func TestHelmReleases(t *testing.T) {
	names := map[string]bool{}
	for _, release := range []string{"one", "leaderboard-of-a-game-with-a-long-name-of-its-own-two"} {
		on := "serviceMonitor: {enabled: true}\n" + example(t)
		for document := range bytes.SplitSeq(manifests(t, release, on), []byte("---\n")) {
			var object map[string]any
			if err := yaml.Unmarshal(document, &object); err != nil {
				t.Fatal(err)
			}
			if len(object) == 0 {
				continue
			}
			name := object["metadata"].(map[string]any)["name"].(string)
			id := fmt.Sprint(object["kind"], " ", name)
			if names[id] || len(name) > 63 || (object["kind"] == "CronJob" && len(name) > 52) {
				t.Errorf("%s is there twice, or too long", id)
			}
			names[id] = true
			eachSelector(object, func(selector map[string]any) {
				if selector["app.kubernetes.io/instance"] != release || selector["app.kubernetes.io/name"] != "leaderboard" {
					t.Errorf("%s selects %v", id, selector)
				}
			})
		}
		for kind, pod := range pods(rendered(t, release, "")) {
			if pod.Labels["app.kubernetes.io/instance"] != release || pod.Labels["app.kubernetes.io/name"] != "leaderboard" {
				t.Errorf("%s: its pods have %v", kind, pod.Labels)
			}
		}
	}
	if !names["Deployment one-leaderboard"] || !names["CronJob leaderboard-of-a-game-with-a-long-name-of-it-refresh"] {
		t.Errorf("%v", slices.Sorted(maps.Keys(names)))
	}
}

// eachSelector calls f for each selector of labels of pods or services of the release in a value.
func eachSelector(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			labels, isMap := member.(map[string]any)
			switch {
			case key == "namespaceSelector": // other namespaces are not the release's
			case key == "matchLabels", key == "selector" && isMap && labels["matchLabels"] == nil:
				f(labels)
			default:
				eachSelector(member, f)
			}
		}
	case []any:
		for _, member := range v {
			eachSelector(member, f)
		}
	}
}

// TestHelmValues: values do what values.yaml says.
func TestHelmValues(t *testing.T) {
	objects := rendered(t, "leaderboard", strings.Replace(strings.Replace(everything, "serviceMonitor: {enabled: true", "serviceMonitor: {enabled: false", 1), "prometheusRule: {enabled: true", "prometheusRule: {enabled: false", 1))
	for kind, pod := range pods(objects) {
		spec, container := pod.Spec, pod.Spec.Containers[0]
		if !strings.HasSuffix(container.Image, ":v9") || container.ImagePullPolicy != "Always" || spec.ImagePullSecrets[0].Name != "registry" {
			t.Errorf("%s: image %s, %s, %v", kind, container.Image, container.ImagePullPolicy, spec.ImagePullSecrets)
		}
		if spec.NodeSelector["disk"] != "fast" || spec.Tolerations[0].Key != "games" || spec.Affinity.PodAntiAffinity == nil {
			t.Errorf("%s is put at %v, %v, %v", kind, spec.NodeSelector, spec.Tolerations, spec.Affinity)
		}
	}
	server := pods(objects)["Deployment"]
	env := map[string]string{}
	for _, v := range server.Spec.Containers[0].Env {
		if env[v.Name] = v.Value; v.ValueFrom != nil {
			env[v.Name] = v.ValueFrom.SecretKeyRef.Name + " " + v.ValueFrom.SecretKeyRef.Key
		}
	}
	for name, want := range map[string]string{
		"LEADERBOARD_MAX_STREAMS": "1000000", "LEADERBOARD_PUBLIC_METRICS": "true", "LEADERBOARD_SITE": "/site",
		"LEADERBOARD_OIDC_CLIENT_SECRET": "oidc secret", "LEADERBOARD_MYSQL_DSN": "leaderboard mysql-dsn",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if v, m := server.Spec.Volumes, server.Spec.Containers[0].VolumeMounts; len(v) != 1 || v[0].ConfigMap == nil || len(m) != 1 || m[0].MountPath != "/site" {
		t.Errorf("the server has the volumes %v at %v", v, m)
	}
	for _, object := range objects {
		switch o := object.(type) {
		case *appsv1.Deployment:
			if o.Spec.Replicas == nil || *o.Spec.Replicas != 3 || o.Spec.Template.Annotations["example.com/a"] != "b" {
				t.Errorf("%v replicas, annotations %v", o.Spec.Replicas, o.Spec.Template.Annotations)
			}
		case *autoscalingv2.HorizontalPodAutoscaler:
			t.Error("an autoscaler that is not enabled")
		case *networkingv1.Ingress:
			if *o.Spec.IngressClassName != "nginx" || o.Annotations["example.com/c"] != "d" || len(o.Spec.TLS) > 0 {
				t.Errorf("ingress %v %+v", o.Annotations, o.Spec)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(plain(t, rendered(t, "leaderboard", nothing)))); !slices.Equal(got, []string{
		"Deployment leaderboard", "Service leaderboard", "Service leaderboard-ops", "ServiceAccount leaderboard",
	}) {
		t.Errorf("with all turned off there are %q", got)
	}
}

// TestHelmSecrets: a Secret that the chart makes replaces the named one; a change of it replaces servers and migrates
// again.
func TestHelmSecrets(t *testing.T) {
	named := string(manifests(t, "leaderboard", "existingSecret: other"))
	if strings.Contains(named, "kind: Secret\n") || strings.Count(named, `secretKeyRef: {name: "other"`) != 6 {
		t.Errorf("it names another Secret\n%s", named)
	}
	before, after := rendered(t, "leaderboard", example(t)), rendered(t, "leaderboard", strings.ReplaceAll(example(t), "PASSWORD", "OTHER"))
	if a, b := pods(before)["Deployment"].Annotations["checksum/secret"], pods(after)["Deployment"].Annotations["checksum/secret"]; a == b || a == "" {
		t.Errorf("servers are not replaced: %q, %q", a, b)
	}
	job := regexp.MustCompile(`leaderboard-migrate-\w+`)
	first := job.Find(manifests(t, "leaderboard", ""))
	for kind, pod := range pods(before) {
		if pod.Labels["helm.sh/chart"] != "" || pod.Labels["app.kubernetes.io/version"] != "" {
			t.Errorf("%s: pods are replaced for another version of the chart: %v", kind, pod.Labels)
		}
	}
	for _, values := range []string{"image: {tag: v9}", example(t), strings.ReplaceAll(example(t), "PASSWORD", "OTHER")} {
		if next := job.Find(manifests(t, "leaderboard", values)); next == nil || bytes.Equal(first, next) {
			t.Errorf("a Job that is changed: %s, then %s", first, next)
		} else {
			first = next
		}
	}
	if again := job.Find(manifests(t, "leaderboard", "replicas: 5")); !bytes.Equal(again, job.Find(manifests(t, "leaderboard", ""))) {
		t.Errorf("it migrates again for another reason: %s", again)
	}
}

// TestHelmSchema: values that the chart does not have, or cannot use, are refused.
func TestHelmSchema(t *testing.T) {
	for _, wrong := range []string{
		"imagee: {}", "image: {name: leaderboard}", "image: {pullPolicy: Sometimes}", "replicas: -1", "replicas: two",
		"settings: {trusted-proxy: 10.0.0.0/8}", "settings: {mysql-dsn: secret}", "settings: {servers: [4]}",
		"secret: {mysql-dsn: alone}", "secret: {mysql-dsn: a, mysql-migrate-dsn: b, redis-url: c, password: d}", `existingSecret: ""`,
		"networkPolicy: {extraPorts: [100000]}", "networkPolicy: {ports: []}", "ingress: {enabled: yes please}", "ingress: {hosts: [a]}",
		"prometheusRule: {runbooks: scores.example}", "autoscaling: {maxReplicas: 0}", "disruption: {maxUnavailable: most}", "extraEnv: [{value: a}]",
	} {
		if _, err := templates(t, "leaderboard", wrong); err == nil {
			t.Errorf("%s is taken", wrong)
		} else if !strings.Contains(err.Error(), "values don't meet the specifications of the schema") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestHelmDocument: each value, nested ones too, is in the schema and in docs/helm.md.
func TestHelmDocument(t *testing.T) {
	document, err := os.ReadFile("../docs/helm.md")
	if err != nil {
		t.Fatal(err)
	}
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(chart.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	delete(schema.Properties, "global") // Helm adds it
	if got, want := slices.Sorted(maps.Keys(schema.Properties)), slices.Sorted(maps.Keys(chart.Values)); !slices.Equal(got, want) {
		t.Errorf("the schema is about %q, values.yaml about %q", got, want)
	}
	for name, value := range chart.Values {
		if !regexp.MustCompile("(?m)^\\| .*`" + name + "[`.].*\\|").Match(document) {
			t.Errorf("docs/helm.md has no %s", name)
		}
		inner := slices.Sorted(maps.Keys(schema.Properties[name].Properties))
		if fields, isMap := value.(map[string]any); isMap && len(fields) > 0 && len(inner) > 0 && !slices.Equal(slices.Sorted(maps.Keys(fields)), inner) {
			t.Errorf("the schema of %s is about %q, values.yaml about %v", name, inner, fields)
		}
	}
}

// TestHelmSettings: the names that the schema takes are the settings of servers in docs/settings.md, except settings that
// the chart sets itself, or that belong into a Secret.
func TestHelmSettings(t *testing.T) {
	document, err := os.ReadFile("../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, serving, _ := strings.Cut(string(document), "\n## MySQL and Redis\n")
	serving, _, found := strings.Cut(serving, "\n## Checking a start")
	if !found {
		t.Fatal("docs/settings.md has other sections")
	}
	own := []string{"mysql-dsn", "redis-url", "keys", "listen", "ops-listen", "log", "drain-delay", "config", "oidc-client-secret"}
	var want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `--([a-z0-9-]+)` \\| `LEADERBOARD_").FindAllStringSubmatch(serving, -1) {
		if !slices.Contains(own, m[1]) {
			want = append(want, m[1])
		}
	}
	slices.Sort(want)
	text, err := os.ReadFile(chartFolder + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Settings struct {
				PropertyNames struct{ Enum []string } `json:"propertyNames"`
			} `json:"settings"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Properties.Settings.PropertyNames.Enum; !slices.Equal(got, want) {
		t.Errorf("values.schema.json has the settings\n%q\nwant\n%q", got, want)
	}
}

// TestHelmNotes: the notes of Helm after an installation are about this installation.
func TestHelmNotes(t *testing.T) {
	for values, want := range map[string][]string{
		"":         {"create secret generic leaderboard ", "--namespace games port-forward service/one-leaderboard 8080:80"},
		example(t): {"https://scores.example, with"},
	} {
		files, err := templates(t, "one", values)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if notes := files["leaderboard/templates/NOTES.txt"]; !strings.Contains(notes, line) {
				t.Errorf("no %q in\n%s", line, notes)
			}
		}
	}
}

// TestHelmVersion: the chart is of the version that the TypeScript client is of, and asks for the image of its tag.
func TestHelmVersion(t *testing.T) {
	text, err := os.ReadFile("../clients/typescript/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var client struct{ Version string }
	if err := json.Unmarshal(text, &client); err != nil {
		t.Fatal(err)
	}
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	if m := chart.Metadata; m.Version != client.Version || m.AppVersion != "v"+client.Version {
		t.Errorf("the chart is of version %s, its image of %s, the client of %s", m.Version, m.AppVersion, client.Version)
	}
}
