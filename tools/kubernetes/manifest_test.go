package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// read decodes a manifest of a ConfigMap and a Job. Unknown fields and wrong types are
// errors, as they are to the API's server.
func read(manifest []byte) (corev1.ConfigMap, batchv1.Job, error) {
	var config corev1.ConfigMap
	var job batchv1.Job
	parts := bytes.Split(manifest, []byte("\n---\n"))
	if len(parts) != 2 {
		return config, job, fmt.Errorf("%d documents", len(parts))
	}
	if err := yaml.UnmarshalStrict(parts[0], &config); err != nil {
		return config, job, err
	}
	return config, job, yaml.UnmarshalStrict(parts[1], &job)
}

func manifests(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../experiments/cluster/testdata/*.yaml")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%q, %v", paths, err)
	}
	return paths
}

func TestManifests(t *testing.T) {
	for _, path := range manifests(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			config, job, err := read(text)
			if err != nil {
				t.Fatal(err)
			}
			if config.TypeMeta != (metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}) ||
				job.TypeMeta != (metav1.TypeMeta{Kind: "Job", APIVersion: batchv1.SchemeGroupVersion.String()}) {
				t.Errorf("kinds %v and %v", config.TypeMeta, job.TypeMeta)
			}
			if len(config.Data) != 1 {
				t.Errorf("data %q", config.Data)
			}
			checkJob(t, job)
		})
	}
}

// checkJob checks names and what the Job's controller does not forgive.
func checkJob(t *testing.T, job batchv1.Job) {
	t.Helper()
	host := fmt.Sprintf("%s-%d", job.Name, *job.Spec.Completions-1)
	if problems := validation.IsDNS1123Label(host); problems != nil {
		t.Errorf("a pod's host name would be %s: %v", host, problems)
	}
	for key, value := range job.Spec.Template.Labels {
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); problems != nil {
			t.Errorf("label %s: %s: %v", key, value, problems)
		}
	}
	pod := job.Spec.Template.Spec
	if *job.Spec.CompletionMode != batchv1.IndexedCompletion || job.Spec.BackoffLimitPerIndex == nil || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Error("a policy for failed pods of single indices needs indices, a limit for each, and pods that are not restarted")
	}
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		switch rule.Action {
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionFailIndex:
		default:
			t.Errorf("action %s", rule.Action)
		}
		if codes := rule.OnExitCodes; codes != nil && *codes.ContainerName != pod.Containers[0].Name {
			t.Errorf("there is no container %s", *codes.ContainerName)
		}
	}
	if cores := pod.Containers[0].Resources.Limits.Cpu(); cores.Sign() <= 0 {
		t.Errorf("limit of cores: %v", cores)
	}
}

// TestMistakesAreFound: the check would notice.
func TestMistakesAreFound(t *testing.T) {
	text, err := os.ReadFile(manifests(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"misspelt field":      {"completionMode:", "completionsMode:"},
		"field too deep":      {"      restartPolicy:", "      policyOfRestart:"},
		"text for a number":   {"completions: ", "completions: x"},
		"number for a text":   {`value: "1"`, "value: 1"},
		"list for an object":  {"podFailurePolicy:\n    rules:", "podFailurePolicy:\n    - rules:"},
		"quantity of nothing": {`cpu: "4"`, "cpu: many"},
	} {
		if !strings.Contains(string(text), change[0]) {
			continue
		}
		if _, _, err := read([]byte(strings.Replace(string(text), change[0], change[1], 1))); err == nil {
			t.Errorf("%s was not found", name)
		}
	}
}
