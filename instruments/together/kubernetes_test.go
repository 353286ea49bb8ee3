package together_test

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the alerts of deploy/prometheus into deploy/kubernetes")

const (
	manifest  = "../../deploy/kubernetes/dewpond.yaml"
	alerts    = "../../deploy/kubernetes/alerts.yaml"
	rulesFile = "../../deploy/prometheus/rules.yaml"
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
	if err := yaml.UnmarshalStrict([]byte(document), &v); err != nil {
		t.Errorf("%T: %v\n%s", v, err, document)
	}
	return v
}

// The manifest is what the API's types allow, and its parts fit together.
func TestManifest(t *testing.T) {
	documents := strings.Split(read(t, manifest), "\n---\n")
	if len(documents) != 3 {
		t.Fatalf("%d documents", len(documents))
	}
	deployment := strict[apps.Deployment](t, documents[0])
	service := strict[core.Service](t, documents[1])
	monitor := strict[monitoring.ServiceMonitor](t, documents[2])

	pod := deployment.Spec.Template
	if !reflect.DeepEqual(deployment.Spec.Selector.MatchLabels, pod.Labels) || !reflect.DeepEqual(service.Spec.Selector, pod.Labels) {
		t.Errorf("pods are labelled %v", pod.Labels)
	}
	if !reflect.DeepEqual(monitor.Spec.Selector.MatchLabels, service.Labels) {
		t.Errorf("the monitor selects %v, the service has %v", monitor.Spec.Selector.MatchLabels, service.Labels)
	}
	container := pod.Spec.Containers[0]
	ports := map[string]bool{}
	for _, p := range container.Ports {
		ports[p.Name] = true
	}
	served := map[string]bool{}
	for _, p := range service.Spec.Ports {
		if served[p.Name] = true; !ports[p.TargetPort.StrVal] {
			t.Errorf("the service's port %s leads nowhere", p.Name)
		}
	}
	for _, e := range monitor.Spec.Endpoints {
		if !served[e.Port] {
			t.Errorf("the monitor's port %s is none of the service's", e.Port)
		}
	}
	if container.Resources.Limits.Memory().IsZero() {
		t.Error("the container has no limit of memory")
	}
	for _, e := range container.Env {
		if e.Name != "GOMEMLIMIT" {
			continue
		}
		if of := e.ValueFrom.ResourceFieldRef; of.Resource != "limits.memory" || of.ContainerName != container.Name {
			t.Errorf("GOMEMLIMIT is from %s of %s", of.Resource, of.ContainerName)
		}
		return
	}
	t.Error("GOMEMLIMIT is not set")
}

// The PrometheusRule has the groups of deploy/prometheus, and nothing else.
func TestPrometheusRule(t *testing.T) {
	rules := strict[monitoring.PrometheusRuleSpec](t, read(t, rulesFile))
	if *update {
		want := monitoring.PrometheusRule{Spec: rules}
		want.APIVersion, want.Kind, want.Name = "monitoring.coreos.com/v1", "PrometheusRule", "dewpond"
		text, err := yaml.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		head := "# The rules of deploy/prometheus for the Prometheus operator. After a change there:\n# go test ./instruments/together -run PrometheusRule -update\n"
		if err := os.WriteFile(alerts, append([]byte(head), text...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := strict[monitoring.PrometheusRule](t, read(t, alerts))
	if got.Kind != "PrometheusRule" || got.Name != "dewpond" || !reflect.DeepEqual(got.Spec, rules) {
		t.Error("deploy/kubernetes/alerts.yaml is not deploy/prometheus/rules.yaml: run this test with -update")
	}
	if len(rules.Groups) != 2 || len(rules.Groups[1].Rules) < 9 {
		t.Errorf("%d groups", len(rules.Groups))
	}
}
