package cluster

// What is used of Kubernetes' objects: core/v1 ConfigMap and batch/v1 Job.
type (
	metadata struct {
		Name      string            `yaml:"name,omitempty"`
		Namespace string            `yaml:"namespace,omitempty"`
		Labels    map[string]string `yaml:"labels"`
	}

	configMapManifest struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   metadata          `yaml:"metadata"`
		Immutable  bool              `yaml:"immutable"`
		Data       map[string]string `yaml:"data"`
	}

	jobManifest struct {
		APIVersion string   `yaml:"apiVersion"`
		Kind       string   `yaml:"kind"`
		Metadata   metadata `yaml:"metadata"`
		Spec       jobSpec  `yaml:"spec"`
	}
	jobSpec struct {
		CompletionMode       string           `yaml:"completionMode"`
		Completions          int              `yaml:"completions"`
		Parallelism          int              `yaml:"parallelism"`
		BackoffLimitPerIndex int              `yaml:"backoffLimitPerIndex"`
		PodFailurePolicy     podFailurePolicy `yaml:"podFailurePolicy"`
		Template             podTemplate      `yaml:"template"`
	}
	podFailurePolicy struct {
		Rules []podFailureRule `yaml:"rules"`
	}
	podFailureRule struct {
		Action          string         `yaml:"action"`
		OnExitCodes     *exitCodes     `yaml:"onExitCodes,omitempty"`
		OnPodConditions []podCondition `yaml:"onPodConditions,omitempty"`
	}
	exitCodes struct {
		ContainerName string `yaml:"containerName"`
		Operator      string `yaml:"operator"`
		Values        []int  `yaml:"values,flow"`
	}
	podCondition struct {
		Type   string `yaml:"type"`
		Status string `yaml:"status"`
	}

	podTemplate struct {
		Metadata metadata `yaml:"metadata"`
		Spec     podSpec  `yaml:"spec"`
	}
	podSpec struct {
		RestartPolicy                 string          `yaml:"restartPolicy"`
		TerminationGracePeriodSeconds int             `yaml:"terminationGracePeriodSeconds"`
		Containers                    []containerSpec `yaml:"containers"`
		Volumes                       []volume        `yaml:"volumes"`
	}
	containerSpec struct {
		Name         string        `yaml:"name"`
		Image        string        `yaml:"image"`
		Command      []string      `yaml:"command,flow"`
		Args         []string      `yaml:"args"`
		WorkingDir   string        `yaml:"workingDir"`
		Resources    resources     `yaml:"resources"`
		VolumeMounts []volumeMount `yaml:"volumeMounts"`
	}
	resources struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	}
	volume struct {
		Name      string           `yaml:"name"`
		Claim     *claimVolume     `yaml:"persistentVolumeClaim,omitempty"`
		ConfigMap *configMapVolume `yaml:"configMap,omitempty"`
	}
	claimVolume struct {
		ClaimName string `yaml:"claimName"`
		ReadOnly  bool   `yaml:"readOnly,omitempty"`
	}
	configMapVolume struct {
		Name string `yaml:"name"`
	}
	volumeMount struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly,omitempty"`
	}
)
