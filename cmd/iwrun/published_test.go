package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tinyProtocol = `experiment: tiny
protocol: alexandari2020
network: {hidden: [4], epochs: 1, batch: 20, learning_rate: 0.05}
training_rows: 60
held_out_rows: 60
networks: 1
draws: 2
rows: [50]
shifts: [{kind: dirichlet, parameter: 1}]
estimators: [{name: bbse-soft, calibrations: [none]}]
`

// writeMNIST writes sets in MNIST's format: images of one grey, the brighter the higher
// the class.
func writeMNIST(t *testing.T, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	const rows = 120
	for _, prefix := range []string{"train", "t10k"} {
		images := []byte{0, 0, 8, 3, 0, 0, 0, rows, 0, 0, 0, 28, 0, 0, 0, 28}
		labels := []byte{0, 0, 8, 1, 0, 0, 0, rows}
		for i := range rows {
			images = append(images, bytes.Repeat([]byte{byte(25 * (i % 10))}, 28*28)...)
			labels = append(labels, byte(i%10))
		}
		writeFile(t, filepath.Join(folder, prefix+"-images-idx3-ubyte"), string(images))
		writeFile(t, filepath.Join(folder, prefix+"-labels-idx1-ubyte"), string(labels))
	}
}

func TestPublished(t *testing.T) {
	inFolder(t)
	writeFile(t, "protocol.yaml", tinyProtocol)
	writeMNIST(t, "digits")
	status, out, said := call(t, "published", "-c", "protocol.yaml", "--digits", "digits", "-j", "1")
	if status != 0 || !strings.Contains(out, "## Dirichlet, α = 1\n") || !strings.Contains(out, "bbse-soft") || !strings.Contains(said, "seed-0: trained") {
		t.Fatalf("status %d\n%s\n%s", status, out, said)
	}
	status, again, said := call(t, "published", "-c", "protocol.yaml", "--digits", "digits")
	if status != 0 || again != out || strings.Contains(said, "trained") {
		t.Errorf("again: status %d\n%s\n%s", status, again, said)
	}
	if files, err := filepath.Glob("results/tiny/logits/seed-0-*.npz"); err != nil || len(files) != 2 {
		t.Errorf("kept logits: %q, %v", files, err)
	}
}

func TestPublishedErrors(t *testing.T) {
	inFolder(t)
	writeFile(t, "protocol.yaml", tinyProtocol)
	writeFile(t, "wrong.yaml", strings.Replace(tinyProtocol, "draws: 2", "draws: -2", 1))
	for _, test := range []struct {
		arguments []string
		status    int
		want      string
	}{
		{nil, statusWrong, "name its file with -c FILE"},
		{[]string{"-c", "wrong.yaml"}, statusWrong, "wrong.yaml: not a protocol: draws: -2"},
		{[]string{"-c", "tiny.yaml"}, statusWrong, "alexandari2020 or lipton2018"},
		{[]string{"-c", "protocol.yaml", "--format", "xml"}, statusWrong, "--format xml"},
		{[]string{"-c", "protocol.yaml", "--digits", "nowhere"}, statusFailed, "train-images-idx3-ubyte"},
	} {
		status, out, said := call(t, append([]string{"published"}, test.arguments...)...)
		if status != test.status || out != "" || !strings.Contains(said, test.want) {
			t.Errorf("%q: status %d, want %d; %s%s", test.arguments, status, test.status, out, said)
		}
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("wrong usage left a folder of results")
	}
}
