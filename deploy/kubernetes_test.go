package deploy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// built returns the objects that kustomize builds of a folder.
func built(t *testing.T, dir string) []runtime.Object {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, text)
}

// decoded returns the objects of documents of YAML, each decoded strictly into its type.
func decoded(t *testing.T, text []byte) []runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var out []runtime.Object
	for documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(document)) == 0 { // a template that is turned off
			continue
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%s\n%s", err, document)
		}
		out = append(out, object)
	}
}

// pods returns the pod templates among objects, by kind.
func pods(objects []runtime.Object) map[string]corev1.PodTemplateSpec {
	out := map[string]corev1.PodTemplateSpec{}
	for _, object := range objects {
		switch o := object.(type) {
		case *appsv1.Deployment:
			out["Deployment"] = o.Spec.Template
		case *batchv1.Job:
			out["Job"] = o.Spec.Template
		case *batchv1.CronJob:
			out["CronJob"] = o.Spec.JobTemplate.Spec.Template
		}
	}
	return out
}

// TestKubernetes builds the base and the example: each object decodes strictly into a type of Kubernetes.
func TestKubernetes(t *testing.T) {
	for dir, want := range map[string]int{"kubernetes/base": 9, "kubernetes/overlays/example": 12} {
		objects := built(t, dir)
		if len(objects) != want {
			t.Errorf("%s: %d objects, want %d", dir, len(objects), want)
		}
		if got := pods(objects); len(got) != 3 {
			t.Errorf("%s: %d pod templates, want those of a Deployment, a Job and a CronJob", dir, len(got))
		}
	}
}

// installations are the objects of an installation by each way to make one.
func installations(t *testing.T) map[string][]runtime.Object {
	t.Helper()
	return map[string][]runtime.Object{"kustomize": built(t, "kubernetes/overlays/example"), "helm": rendered(t, "leaderboard", example(t))}
}

// TestRestricted holds each pod to Kubernetes' own standard "restricted".
func TestRestricted(t *testing.T) {
	for way, objects := range installations(t) {
		t.Run(way, func(t *testing.T) { testRestricted(t, pods(objects)) })
	}
}

func testRestricted(t *testing.T, pods map[string]corev1.PodTemplateSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for kind, pod := range pods {
		for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
			if !result.Allowed {
				t.Errorf("%s: %s: %s", kind, result.ForbiddenReason, result.ForbiddenDetail)
			}
		}
		for _, c := range pod.Spec.Containers {
			if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
				t.Errorf("%s: a root file system that can be written", kind)
			}
			if c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
				t.Errorf("%s: the reason why it did not start is not told", kind)
			}
			if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
				t.Errorf("%s: what it needs is not known", kind)
			}
		}
	}
}

// TestVariables: the variables and arguments of the pods are settings of the program, and secrets come from secrets.
func TestVariables(t *testing.T) {
	for way, objects := range installations(t) {
		t.Run(way, func(t *testing.T) { testVariables(t, pods(objects)) })
	}
}

func testVariables(t *testing.T, pods map[string]corev1.PodTemplateSpec) {
	t.Helper()
	settings, err := os.ReadFile("../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, pod := range pods {
		for _, c := range pod.Spec.Containers {
			for _, v := range c.Env {
				if !bytes.Contains(settings, []byte("`"+v.Name+"`")) {
					t.Errorf("%s: docs/settings.md has no %s", kind, v.Name)
				}
				secret := slices.Contains([]string{"LEADERBOARD_MYSQL_DSN", "LEADERBOARD_REDIS_URL", "LEADERBOARD_KEYS"}, v.Name)
				if secret != (v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil) {
					t.Errorf("%s: %s and secrets", kind, v.Name)
				}
			}
			help, err := exec.CommandContext(t.Context(), "go", "run", "-C", "..", "./cmd/leaderboard", c.Args[0], "--help").Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, arg := range c.Args {
				if strings.HasPrefix(arg, "--") && !bytes.Contains(help, []byte("\n  "+arg+" ")) && !bytes.Contains(help, []byte("\n  "+arg+"\n")) {
					t.Errorf("%s: leaderboard %s has no %s", kind, c.Args[0], arg)
				}
			}
		}
	}
}

// letOut returns the ports that the network policy among objects lets out.
func letOut(t *testing.T, objects []runtime.Object) (ports []int32) {
	t.Helper()
	for _, object := range objects {
		if policy, ok := object.(*networkingv1.NetworkPolicy); ok {
			for _, rule := range policy.Spec.Egress {
				for _, p := range rule.Ports {
					ports = append(ports, p.Port.IntVal)
				}
			}
		}
	}
	return ports
}

// TestNetwork: servers may ask names, MySQL, Redis, and endpoints and issuers by https; an installation adds its own ports.
func TestNetwork(t *testing.T) {
	if got, want := letOut(t, built(t, "kubernetes/base")), []int32{53, 53, 3306, 6379, 443}; !slices.Equal(got, want) {
		t.Errorf("the base lets out %v, want %v", got, want)
	}
	if got := letOut(t, built(t, "kubernetes/overlays/example")); !slices.Contains(got, 26379) || !slices.Contains(got, 4318) || !slices.Contains(got, 443) {
		t.Errorf("the example lets out %v", got)
	}
}

// TestServiceMonitor: the Prometheus Operator finds the port of the operations in a Service of the base, and calls the job as the rules do.
func TestServiceMonitor(t *testing.T) {
	text := monitoring(t, "ServiceMonitor")
	var monitor struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name, Namespace string
			Labels          map[string]string
		} `json:"metadata"`
		Spec struct {
			JobLabel string `json:"jobLabel"`
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			Endpoints []struct{ Port, Path, Interval string } `json:"endpoints"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(text, &monitor); err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("prometheus/leaderboard.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, object := range built(t, "kubernetes/overlays/example") {
		service, ok := object.(*corev1.Service)
		if !ok || service.Namespace != monitor.Metadata.Namespace || !labels.SelectorFromSet(monitor.Spec.Selector.MatchLabels).Matches(labels.Set(service.Labels)) {
			continue
		}
		for _, p := range service.Spec.Ports {
			if p.Name != monitor.Spec.Endpoints[0].Port {
				continue
			}
			found++
			if job := service.Labels[monitor.Spec.JobLabel]; job == "" || !strings.Contains(string(rules), `up{job="`+job+`"}`) {
				t.Errorf("the job is called %q, and the rules are about another one", job)
			}
		}
	}
	if found != 1 || monitor.APIVersion != "monitoring.coreos.com/v1" {
		t.Errorf("%d ports of services fit\n%s", found, text)
	}
}

// monitoring returns the object of a kind that kustomize builds for the Prometheus Operator.
func monitoring(t *testing.T, kind string) []byte {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "prometheus")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range made.Resources() {
		if object.GetKind() == kind {
			text, err := object.AsYAML()
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
	}
	t.Fatalf("kustomize builds no %s", kind)
	return nil
}

// TestPrometheusRule: the rules for the Prometheus Operator equal the file's. UPDATE_RULES=1 writes them.
func TestPrometheusRule(t *testing.T) {
	const file = "prometheus/prometheusrule.yaml"
	rules, err := os.ReadFile("prometheus/leaderboard.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_RULES") != "" {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(before), "\nspec:\n")
		indented := strings.TrimSuffix(strings.ReplaceAll("  "+string(rules), "\n", "\n  "), "  ")
		if err := os.WriteFile(file, []byte(head+"\nspec:\n"+indented), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	type groups struct {
		Groups []any `json:"groups"`
	}
	var want groups
	if err := yaml.Unmarshal(rules, &want); err != nil {
		t.Fatal(err)
	}
	var object struct {
		APIVersion string `json:"apiVersion"`
		Metadata   struct{ Name, Namespace string }
		Spec       groups
	}
	if err := yaml.Unmarshal(monitoring(t, "PrometheusRule"), &object); err != nil {
		t.Fatal(err)
	}
	if object.APIVersion != "monitoring.coreos.com/v1" || object.Metadata.Namespace != "leaderboard" {
		t.Errorf("it is %s %+v", object.APIVersion, object.Metadata)
	}
	if len(want.Groups) == 0 || !reflect.DeepEqual(object.Spec, want) {
		t.Errorf("%s is not what leaderboard.rules.yml says: UPDATE_RULES=1 go test -C deploy -run TestPrometheusRule", file)
	}
}

// TestGrafana: the dashboard is in a ConfigMap that Grafana's sidecar finds, and the files for a Grafana without Kubernetes can be read.
func TestGrafana(t *testing.T) {
	dashboard, err := os.ReadFile("grafana/leaderboard.json")
	if err != nil {
		t.Fatal(err)
	}
	objects := built(t, "grafana")
	config, ok := objects[0].(*corev1.ConfigMap)
	if len(objects) != 1 || !ok || config.Labels["grafana_dashboard"] != "1" || config.Data["leaderboard.json"] != string(dashboard) {
		t.Errorf("%v", objects)
	}
	for _, file := range []string{"dashboards/leaderboard.yaml", "datasources/prometheus.yaml"} {
		text, err := os.ReadFile("grafana/provisioning/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var provisioning struct {
			APIVersion int `json:"apiVersion"`
			Providers  []struct {
				Name, Type     string
				AllowUIUpdates bool `json:"allowUiUpdates"`
				Options        struct{ Path string }
			} `json:"providers"`
			Datasources []struct {
				Name, Type, Access, URL string
				IsDefault               bool `json:"isDefault"`
			} `json:"datasources"`
		}
		if err := yaml.UnmarshalStrict(text, &provisioning); err != nil {
			t.Fatalf("%s: %s", file, err)
		}
		if provisioning.APIVersion != 1 || len(provisioning.Providers)+len(provisioning.Datasources) != 1 {
			t.Errorf("%s: %+v", file, provisioning)
		}
	}
}

// TestGrace: a server has as much time to end as its settings need.
func TestGrace(t *testing.T) {
	pod := pods(built(t, "kubernetes/base"))["Deployment"]
	const drain, shutdown, room = 5, 12, 10
	if got := *pod.Spec.TerminationGracePeriodSeconds; got < pod.Spec.Containers[0].Lifecycle.PreStop.Sleep.Seconds+drain+shutdown+room {
		t.Errorf("%d s of grace", got)
	}
	if !slices.Contains(pod.Spec.Containers[0].Args, "5s") {
		t.Error("this test is about a --drain-delay of 5s")
	}
}
