package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Kubernetes says how Kubernetes carries out an experiment. Its Indices are not used: every
// run gets a task, and those of finished runs end at once.
type Kubernetes struct {
	Experiment
	Runs      int    // of the plan, at least 1
	Image     string // with iwrun as a command
	Claim     string // the persistent volume claim for results, and for data without DataClaim
	DataClaim string // the claim whose root is the folder data; may be empty
	Results   string // folder of all results, below the claim's root
	AtOnce    int    // largest number of tasks at a time, at least 1
	CPUs      int    // of a task, and threads of its run, at least 1
	Memory    string // of a task, as in 8Gi; empty: no limit
	GPU       bool
	Namespace string // empty: the caller's
}

const (
	container = "iwrun"
	// workFolder is the working directory of a task, so that data and results mean the
	// claim's.
	workFolder   = "/iwda"
	configFolder = "/etc/iwda"
	configName   = "experiment.yaml"
	// stopSeconds is what a task has to write a checkpoint when its node goes away.
	stopSeconds = 120
	// retries of a run whose task failed, beside those that are for free.
	retries = 2
	// The exit statuses of iwrun that a task cannot mend, or must not count.
	statusWrong       = 2
	statusInterrupted = 130
)

// Manifest returns a ConfigMap with the experiment's file and the Job, as YAML. Their
// names change with all that they hold, so that a changed experiment is another Job.
// The error is for fields that are missing or that make no Job.
func (k Kubernetes) Manifest() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	configMap := configMapManifest{
		APIVersion: "v1", Kind: "ConfigMap",
		Metadata:  metadata{Namespace: k.Namespace, Labels: k.labels()},
		Immutable: true,
		Data:      map[string]string{configName: string(k.Config)},
	}
	job := k.job()
	unnamed, err := encode(configMap, job)
	if err != nil {
		return nil, err
	}
	name := label(k.Name) + "-" + hash(string(unnamed))
	configMap.Metadata.Name, job.Metadata.Name = name, name
	for i, volume := range job.Spec.Template.Spec.Volumes {
		if volume.ConfigMap != nil {
			job.Spec.Template.Spec.Volumes[i].ConfigMap = &configMapVolume{Name: name}
		}
	}
	return encode(configMap, job)
}

// check finds the mistakes that Kubernetes would notice late or not at all. It checks names
// itself.
func (k Kubernetes) check() error {
	switch {
	case k.Image == "" || k.Claim == "":
		return errors.New("a task needs an image and a persistent volume claim")
	case k.Runs < 1 || k.AtOnce < 1 || k.CPUs < 1:
		return fmt.Errorf("a Job of %d runs, %d at once, with %d cores each; want at least 1", k.Runs, k.AtOnce, k.CPUs)
	case !filepath.IsLocal(k.Results):
		return fmt.Errorf("the results folder %q is not below the claim's root; name it by a relative path", k.Results)
	case k.Memory != "" && !quantity.MatchString(k.Memory):
		return fmt.Errorf("memory %q is no quantity as 8Gi or 500M", k.Memory)
	}
	return nil
}

var quantity = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([KMGT]i?|k)?$`)

func (k Kubernetes) labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "iwda", "iwda/experiment": label(k.Name)}
}

func (k Kubernetes) job() jobManifest {
	device := "cpu"
	limits := map[string]string{"cpu": strconv.Itoa(k.CPUs)}
	if k.Memory != "" {
		limits["memory"] = k.Memory
	}
	if k.GPU {
		device = "cuda"
		limits["nvidia.com/gpu"] = "1"
	}
	arguments := []string{"--config", path.Join(configFolder, configName), "--results", literal(k.Results)}
	for _, assignment := range k.Set {
		arguments = append(arguments, "--set", literal(assignment))
	}
	arguments = append(arguments, "--index", "$(JOB_COMPLETION_INDEX)", "--jobs", "1", "--device", device, "--threads", strconv.Itoa(k.CPUs))
	for _, argument := range k.Arguments {
		arguments = append(arguments, literal(argument))
	}
	volumes, mounts := k.volumes()
	return jobManifest{
		APIVersion: "batch/v1", Kind: "Job",
		Metadata: metadata{Namespace: k.Namespace, Labels: k.labels()},
		Spec: jobSpec{
			CompletionMode: "Indexed", Completions: k.Runs, Parallelism: min(k.AtOnce, k.Runs),
			BackoffLimitPerIndex: retries,
			PodFailurePolicy: podFailurePolicy{Rules: []podFailureRule{
				// Drained and preempted nodes, and runs that stopped with a checkpoint.
				{Action: "Ignore", OnPodConditions: []podCondition{{Type: "DisruptionTarget", Status: "True"}}},
				{Action: "Ignore", OnExitCodes: &exitCodes{ContainerName: container, Operator: "In", Values: []int{statusInterrupted}}},
				{Action: "FailIndex", OnExitCodes: &exitCodes{ContainerName: container, Operator: "In", Values: []int{statusWrong}}},
			}},
			Template: podTemplate{
				Metadata: metadata{Labels: k.labels()},
				Spec: podSpec{
					RestartPolicy: "Never", TerminationGracePeriodSeconds: stopSeconds,
					Containers: []containerSpec{{
						Name: container, Image: k.Image, Command: []string{"iwrun"}, Args: arguments, WorkingDir: workFolder,
						Resources: resources{Requests: limits, Limits: limits}, VolumeMounts: mounts,
					}},
					Volumes: volumes,
				},
			},
		},
	}
}

func (k Kubernetes) volumes() ([]volume, []volumeMount) {
	volumes := []volume{
		{Name: "work", Claim: &claimVolume{ClaimName: k.Claim}},
		{Name: "experiment", ConfigMap: &configMapVolume{}},
	}
	mounts := []volumeMount{
		{Name: "work", MountPath: workFolder},
		{Name: "experiment", MountPath: configFolder, ReadOnly: true},
	}
	if k.DataClaim != "" {
		volumes = append(volumes, volume{Name: "data", Claim: &claimVolume{ClaimName: k.DataClaim, ReadOnly: true}})
		mounts = append(mounts, volumeMount{Name: "data", MountPath: path.Join(workFolder, "data"), ReadOnly: true})
	}
	return volumes, mounts
}

// literal keeps Kubernetes from replacing $(NAME) in an argument.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// labelLength leaves room, below the 63 characters of a pod's host name, for a hash and
// an index.
const labelLength = 40

// label returns the name in the characters that Kubernetes allows in one.
func label(name string) string {
	var text strings.Builder
	for _, r := range strings.ToLower(name) {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) {
			r = '-'
		}
		text.WriteRune(r)
	}
	all := text.String()
	if trimmed := strings.Trim(all[:min(len(all), labelLength)], "-"); trimmed != "" {
		return trimmed
	}
	return "experiment"
}

func encode(documents ...any) ([]byte, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			return nil, fmt.Errorf("manifest as YAML: %w", err)
		}
	}
	return text.Bytes(), nil
}
