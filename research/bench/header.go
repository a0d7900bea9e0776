package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/cpu"

	"iwda/research/bench/worker"
)

// header says what was measured on what, and when.
func (b *bench) header() (string, error) {
	doctor, err := describe(b.environments.ours, worker.Program, "doctor")
	if err != nil {
		return "", err
	}
	plain, err := describe(b.environments.plain, b.python, "research/bench/peer.py", "versions")
	if err != nil {
		return "", err
	}
	var versions map[string]string
	if err := json.Unmarshal([]byte(plain.text), &versions); err != nil {
		return "", fmt.Errorf("research/bench/peer.py versions printed %q: %w", plain.text, err)
	}
	data := "of $IWDA_DATA"
	if b.digits == "" {
		data = "none: $IWDA_DATA/digits is not there; drawn digits serve where they can"
	}
	var text strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&text, "%-9s%s\n", name, fmt.Sprintf(format, values...))
	}
	line("date", "%s", time.Now().Format(time.DateOnly))
	line("machine", "%s, AVX-512: %t, %d cores, %s/%s", processor(), cpu.X86.HasAVX512F, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	line("threads", "1 each side; the loaders' workers are named")
	line("ours", "%s, libtorch %s", runtime.Version(), doctor.line("libtorch"))
	line("", "products of matrices: %s", doctor.line("BLAS"))
	line("peer", "Python with PyTorch %s, torchvision %s, Pillow %s, numpy %s, cvxopt %s, SciPy %s", versions["PyTorch"],
		versions["torchvision"], versions["Pillow"], versions["numpy"], versions["cvxopt"], versions["SciPy"])
	line("", "kernels of OpenBLAS: %s", plain.kernels)
	if forgotten := b.environments.forgotten; len(forgotten) > 0 {
		line("", "no side gets the environment's %s", strings.Join(forgotten, " "))
	}
	if given := b.environments.given; given != "" {
		line("", "OpenBLAS does not know this processor, so that the peer is given its kernels of %s", given)
	}
	line("digits", "%s", data)
	text.WriteByte('\n')
	return text.String(), nil
}

// description is what a program printed, and the kernels that OpenBLAS chose in it.
type description struct{ text, kernels string }

var (
	coreLine      = regexp.MustCompile(`(?m)^Core: (\S+)`)
	processorLine = regexp.MustCompile(`(?m)^model name\s*: (.*)$`)
)

func describe(environment []string, name string, arguments ...string) (description, error) {
	command := exec.Command(name, arguments...)
	command.Env = append(environment, "OPENBLAS_VERBOSE=2")
	var said strings.Builder
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		return description{}, fmt.Errorf("%s: %w: %s", name, err, said.String())
	}
	// OpenBLAS says it on one of the two, by its version.
	all := string(text) + said.String()
	d := description{text: string(text), kernels: "not known"}
	if match := coreLine.FindStringSubmatch(all); match != nil {
		d.kernels = match[1]
		d.text = coreLine.ReplaceAllString(d.text, "")
	}
	return d, nil
}

// line returns what follows a name at the start of a line.
func (d description) line(name string) string {
	for line := range strings.Lines(d.text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "not known"
}
