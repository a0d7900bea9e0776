package cluster

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

// Manifest returns a ConfigMap with the experiment's file and the Job, as YAML. Their
// names change with all that they hold, so that a changed experiment is another Job.
// The error is for fields that are missing or that make no Job.
func (k Kubernetes) Manifest() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	m := manifest{Kubernetes: k}
	m.Object = m.Label() + "-" + hash(execute("job.yaml", m))
	return []byte(execute("job.yaml", m)), nil
}

// check finds the mistakes that Kubernetes would notice late or not at all. It checks names
// itself.
func (k Kubernetes) check() error {
	switch {
	case k.Image == "" || k.Claim == "":
		return errors.New("a task needs an image and a persistent volume claim")
	case !filepath.IsLocal(k.Results):
		return fmt.Errorf("the results folder %q is not below the claim's root; name it by a relative path", k.Results)
	case k.Memory != "" && !quantity.MatchString(k.Memory):
		return fmt.Errorf("memory %q is no quantity as 8Gi or 500M", k.Memory)
	}
	return nil
}

var quantity = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([KMGT]i?|k)?$`)

// manifest is what the template sees.
type manifest struct {
	Kubernetes
	Object string // name of the ConfigMap and of the Job
}

// Label is the experiment's name as Kubernetes allows it.
func (m manifest) Label() string { return label(m.Name) }

// Parallelism is the number of tasks at a time.
func (m manifest) Parallelism() int { return min(m.AtOnce, m.Runs) }

// Data is the content of the ConfigMap.
func (m manifest) Data() map[string]string {
	return map[string]string{"experiment.yaml": string(m.Config)}
}

// Args are the arguments of iwrun.
func (m manifest) Args() []string {
	device := "cpu"
	if m.GPU {
		device = "cuda"
	}
	arguments := []string{"--config", "/etc/iwda/experiment.yaml", "--results", literal(m.Results)}
	for _, assignment := range m.Set {
		arguments = append(arguments, "--set", literal(assignment))
	}
	arguments = append(arguments, "--index", "$(JOB_COMPLETION_INDEX)", "--jobs", "1", "--device", device, "--threads", strconv.Itoa(m.CPUs))
	for _, argument := range m.Arguments {
		arguments = append(arguments, literal(argument))
	}
	return arguments
}

// Limits are what a task requests and may use.
func (m manifest) Limits() map[string]string {
	limits := map[string]string{"cpu": strconv.Itoa(m.CPUs)}
	if m.Memory != "" {
		limits["memory"] = m.Memory
	}
	if m.GPU {
		limits["nvidia.com/gpu"] = "1"
	}
	return limits
}

// literal keeps Kubernetes from replacing $(NAME) in an argument.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// labelLength leaves room, below the 63 characters of a pod's host name, for a hash and
// an index.
const labelLength = 40

// label returns the name in the characters that Kubernetes allows in one.
func label(name string) string {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return cmp.Or(strings.Trim(text[:min(len(text), labelLength)], "-"), "experiment")
}

// yamlBlock returns a value as lines of YAML so many levels deep, of two blanks each.
func yamlBlock(levels int, value any) (string, error) {
	const key = "-"
	for range levels {
		value = map[string]any{key: value}
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	lines := text.String()
	for range levels { // the keys'
		_, lines, _ = strings.Cut(lines, "\n")
	}
	return strings.TrimSuffix(lines, "\n"), nil
}

// yamlWord returns a text as YAML on one line.
func yamlWord(text string) (string, error) {
	if strings.Contains(text, "\n") {
		return strconv.Quote(text), nil
	}
	return yamlBlock(0, text)
}
