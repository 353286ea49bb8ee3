package together_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the alerts of deploy/prometheus into deploy/kubernetes")

const (
	kubernetes = "../../deploy/kubernetes/"
	alerts     = kubernetes + "alerts.yaml"
	slo        = kubernetes + "slo.yaml"
	rulesFile  = "../../deploy/prometheus/rules.yaml"
	sloFile    = "../../deploy/prometheus/slo.yaml"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// strict decodes a document into an API's type, in which each of its fields must exist.
func strict[T any](t *testing.T, document string) (v T) {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := json.UnmarshalStrict(text, &v) // as the API's server does, which tells a Name from a name
	if err = errors.Join(append(unknown, err)...); err != nil {
		t.Errorf("%T: %v\n%s", v, err, document)
	}
	return v
}

// manifests has what the files of deploy/kubernetes say, each document in the API's type. There is no cluster here:
// that a field exists and has its type is all that is known of it.
type manifests struct {
	pods     map[string]pod // by file and name
	services map[string]core.Service
	monitors map[string]monitoring.ServiceMonitor
}

// A pod is what a Deployment or a Job has.
type pod struct {
	spec     core.PodSpec
	labels   map[string]string
	selector map[string]string // nil: a Job finds its pods itself
}

func decoded(t *testing.T) manifests {
	t.Helper()
	files, err := filepath.Glob(kubernetes + "*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	m := manifests{map[string]pod{}, map[string]core.Service{}, map[string]monitoring.ServiceMonitor{}}
	for _, file := range files {
		for _, document := range strings.Split(read(t, file), "\n---\n") {
			var of meta.TypeMeta
			if err := yaml.Unmarshal([]byte(document), &of); err != nil {
				t.Fatal(file, err)
			}
			at := func(name string) string { return filepath.Base(file) + " " + name }
			switch of.APIVersion + " " + of.Kind {
			case "apps/v1 Deployment":
				d := strict[apps.Deployment](t, document)
				m.pods[at(d.Name)] = pod{d.Spec.Template.Spec, d.Spec.Template.Labels, d.Spec.Selector.MatchLabels}
			case "batch/v1 Job":
				j := strict[batch.Job](t, document)
				m.pods[at(j.Name)] = pod{j.Spec.Template.Spec, j.Spec.Template.Labels, nil}
			case "v1 Service":
				s := strict[core.Service](t, document)
				m.services[at(s.Name)] = s
			case "monitoring.coreos.com/v1 ServiceMonitor":
				s := strict[monitoring.ServiceMonitor](t, document)
				m.monitors[at(s.Name)] = s
			case "monitoring.coreos.com/v1 PrometheusRule": // TestPrometheusRules
			default:
				t.Errorf("%s has a %s %s, of which nothing is known here", file, of.APIVersion, of.Kind)
			}
		}
	}
	return m
}

// Each pod is bounded and locked up: as nobody, without a token, without rights, on a root that cannot be written.
func TestPodsAreLockedUp(t *testing.T) {
	m := decoded(t)
	if len(m.pods) != 4 {
		t.Errorf("%d pods", len(m.pods))
	}
	for where, p := range m.pods {
		s, c := p.spec.SecurityContext, p.spec.Containers[0]
		switch {
		case p.spec.AutomountServiceAccountToken == nil || *p.spec.AutomountServiceAccountToken:
			t.Errorf("%s has a token of the cluster", where)
		case s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0:
			t.Errorf("%s may be root", where)
		case s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault:
			t.Errorf("%s may make any system call", where)
		}
		own := c.SecurityContext
		if own == nil || own.ReadOnlyRootFilesystem == nil || !*own.ReadOnlyRootFilesystem || own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation ||
			own.Capabilities == nil || !reflect.DeepEqual(own.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s: %+v", where, own)
		}
		for _, resource := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory} {
			request, limit := c.Resources.Requests[resource], c.Resources.Limits[resource]
			if request.IsZero() || limit.IsZero() || request.Cmp(limit) > 0 {
				t.Errorf("%s: of %s it asks for %s, and has at most %s", where, resource, request.String(), limit.String())
			}
		}
		limit := ""
		for _, e := range c.Env {
			if e.Name == "GOMEMLIMIT" {
				limit = e.Value
			}
		}
		nineTenths(t, where, limit, c.Resources.Limits.Memory().Value())
		for _, v := range c.VolumeMounts {
			if !slices.ContainsFunc(p.spec.Volumes, func(of core.Volume) bool { return of.Name == v.Name }) {
				t.Errorf("%s mounts %s, which is none", where, v.Name)
			}
		}
	}
}

// What uses dewpond has its blocks guarded, as README advises: no variable disables that.
func TestPodsAreGuarded(t *testing.T) {
	guarded := 0
	for where, p := range decoded(t).pods {
		for _, e := range p.spec.Containers[0].Env {
			switch e.Name {
			case "DEWPOND_GUARD":
				guarded++
			case "DEWPOND_CHECK":
				t.Errorf("%s has %s=%s: no block of a checked pool is guarded", where, e.Name, e.Value)
			}
		}
	}
	if guarded != 1 {
		t.Errorf("%d pods have DEWPOND_GUARD, want that of dewpond.yaml", guarded)
	}
}

// Labels, ports and probes lead somewhere, and a port of metrics is in no Service of users.
func TestManifestsFitTogether(t *testing.T) {
	m := decoded(t)
	ports := func(where string, selects map[string]string) map[string]int32 {
		for _, p := range m.pods {
			if reflect.DeepEqual(p.labels, selects) {
				all := map[string]int32{}
				for _, port := range p.spec.Containers[0].Ports {
					all[port.Name] = port.ContainerPort
				}
				return all
			}
		}
		t.Errorf("%s selects %v, which no pod has", where, selects)
		return nil
	}
	for where, p := range m.pods {
		if p.selector != nil && !reflect.DeepEqual(p.selector, p.labels) {
			t.Errorf("%s: its pods are labelled %v", where, p.labels)
		}
		c := p.spec.Containers[0]
		if probed := c.ReadinessProbe != nil && c.LivenessProbe != nil && c.StartupProbe != nil; probed != (len(c.Ports) > 0) {
			t.Errorf("%s has %d ports, and probes: %v", where, len(c.Ports), probed)
		}
	}
	for where, s := range m.services {
		has := ports(where, s.Spec.Selector)
		for _, p := range s.Spec.Ports {
			if has[p.TargetPort.StrVal] == 0 {
				t.Errorf("%s: the port %s leads nowhere", where, p.Name)
			}
			if metrics := p.Name == "metrics"; metrics != (s.Labels["part"] == "metrics") {
				t.Errorf("%s has the port %s", where, p.Name)
			}
		}
	}
	for where, of := range m.monitors {
		found := false
		for _, s := range m.services {
			if reflect.DeepEqual(of.Spec.Selector.MatchLabels, s.Labels) {
				found = true
				for _, e := range of.Spec.Endpoints {
					if !slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return p.Name == e.Port }) {
						t.Errorf("%s scrapes the port %s, which is none", where, e.Port)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s selects %v, which no Service has", where, of.Spec.Selector.MatchLabels)
		}
	}
	if len(m.services) != 4 || len(m.monitors) != 2 {
		t.Errorf("%d Services, %d ServiceMonitors", len(m.services), len(m.monitors))
	}
}

// testPods has each program of ours take the arguments of its pods.
func testPods(t *testing.T, programs map[string]string) {
	asked := 0
	for where, p := range decoded(t).pods {
		c := p.spec.Containers[0]
		name, _, _ := strings.Cut(filepath.Base(c.Image), ":")
		program := programs[name]
		if program == "" {
			continue // an image of the user's own
		}
		asked++
		knows(t, where, program, c.Args)
		for _, port := range c.Ports {
			if !slices.Contains(c.Args, fmt.Sprintf("--%s=:%d", port.Name, port.ContainerPort)) {
				t.Errorf("%s: nothing listens on %s %d", where, port.Name, port.ContainerPort)
			}
		}
	}
	if asked != 3 {
		t.Errorf("%d pods have programs of ours", asked)
	}
}

// testProbes starts the service with the arguments of its pod, on free ports and stand-ins, and asks its probes,
// that of compose.yaml too, and what the rules name of its metrics.
func testProbes(t *testing.T, programs map[string]string) {
	var c core.Container
	for where, p := range decoded(t).pods {
		if strings.HasSuffix(where, " matchmaker") {
			c = p.spec.Containers[0]
		}
	}
	addresses := filepath.Join(t.TempDir(), "addresses.json")
	args := []string{"--admin=127.0.0.1:0", "--addresses=" + addresses, "--unhurried"}
	for _, a := range c.Args {
		if name, _, ok := strings.Cut(a, "=:"); ok {
			a = name + "=127.0.0.1:0"
		}
		if !strings.HasPrefix(a, "--redis=") {
			args = append(args, a)
		}
	}
	service := exec.Command(programs["matchmaker"], args...)
	service.Env = append(os.Environ(), "MATCHMAKER_HAS_PARENT=1") // it ends with its standard input
	out, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := service.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	service.Stderr = os.Stderr
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stdin.Close()
		if err := service.Wait(); err != nil {
			t.Error(err)
		}
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	go io.Copy(io.Discard, out)
	var at struct {
		HTTP    string `json:"http"`
		Metrics string `json:"metrics"`
	}
	if _, err := json.UnmarshalStrict([]byte(read(t, addresses)), &at); err != nil {
		t.Fatal(err)
	}
	get := func(url string) (string, int) {
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body), answer.StatusCode
	}
	for _, p := range []*core.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if body, code := get("http://" + at.Metrics + p.HTTPGet.Path); code != http.StatusOK || p.HTTPGet.Port.StrVal != "metrics" {
			t.Errorf("%s of port %s: %d %s", p.HTTPGet.Path, p.HTTPGet.Port.StrVal, code, body)
		}
	}
	get("http://" + at.HTTP + "/api/v1/matches?uid=7")
	metrics, _ := get("http://" + at.Metrics + "/metrics")
	for _, name := range regexp.MustCompile(`(?:matchmaker|dewpond)_[a-z_]+`).FindAllString(read(t, sloFile), -1) {
		if !strings.Contains(metrics, "\n"+name) && !recorded.MatchString(name) {
			t.Errorf("slo.yaml names %s, which the service has not", name)
		}
	}
	project, err := composed(t, map[string]string{"POSTGRES_PASSWORD": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	check := project.Services["matchmaker"].HealthCheck.Test[2:]
	for i, a := range check {
		check[i] = strings.Replace(a, "127.0.0.1:9090", at.Metrics, 1)
	}
	if out, err := exec.Command(programs["matchmaker"], check...).CombinedOutput(); err != nil {
		t.Errorf("the health check of compose.yaml: %v\n%s", err, out)
	}
}

// recorded are the middles of names of rules, in which a metric's name has an ending of its own.
var recorded = regexp.MustCompile(`^(matchmaker_request_seconds|matchmaker_requests|dewpond_gets_hit)$`)

// A PrometheusRule has the groups of a file of deploy/prometheus, and nothing else.
func TestPrometheusRules(t *testing.T) {
	testRule(t, "dewpond", "rules.yaml", alerts, rulesFile, 2, 9)
	testRule(t, "matchmaker-slo", "slo.yaml", slo, sloFile, 1, 5)
}

// testRule compares a PrometheusRule with the file that it is made of, which has so many groups, and in the last of
// them so many rules.
func testRule(t *testing.T, name, from, alerts, file string, groups, last int) {
	rules := strict[monitoring.PrometheusRuleSpec](t, read(t, file))
	if *update {
		want := monitoring.PrometheusRule{Spec: rules}
		want.APIVersion, want.Kind, want.Name = "monitoring.coreos.com/v1", "PrometheusRule", name
		text, err := yaml.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		head := "# deploy/prometheus/" + from + " for the Prometheus operator. After a change there:\n# go test ./instruments/together -run PrometheusRule -update\n"
		if err := os.WriteFile(alerts, append([]byte(head), text...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := strict[monitoring.PrometheusRule](t, read(t, alerts))
	if got.Kind != "PrometheusRule" || got.Name != name || !reflect.DeepEqual(got.Spec, rules) {
		t.Errorf("%s is not %s: run this test with -update", alerts, file)
	}
	if len(rules.Groups) != groups || len(rules.Groups[groups-1].Rules) < last {
		t.Errorf("%s has %d groups", file, len(rules.Groups))
	}
}
