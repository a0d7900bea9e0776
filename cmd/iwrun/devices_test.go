package main

import (
	"os"
	"strings"
	"testing"
)

// A device in the place of a file is an error that names it, whatever is read: one that ends
// here, so that a command that opens it fails the test and does not read for ever.
func TestDevicesAreNoFiles(t *testing.T) {
	trainPoints(t)
	if status, _, err := call(t, "export", pointsRun, "-o", "model"); status != 0 {
		t.Fatal(err)
	}
	for _, test := range []struct{ file, command string }{
		{"points.yaml", "-c points.yaml"},
		{"model/model.json", "predict model data/west.npz -o out.csv"},
		{"model/model.safetensors", "predict model data/west.npz -o out.csv"},
		{"data/west.npz", "predict model data/west.npz -o out.csv"},
		{"list.txt", "predict model list.txt -o out.csv"},
		{"shares.csv", "predict model data/west.npz --shares shares.csv -o out.csv"},
		{pointsRun + "/model.json", "predict " + pointsRun + " data/west.npz -o out.csv"},
		{pointsRun + "/checkpoint.safetensors", "predict " + pointsRun + " data/west.npz -o out.csv"},
		{pointsRun + "/outputs.safetensors", "labelshift --run " + pointsRun},
		{pointsRun + "/result.json", "labelshift --run " + pointsRun},
		{pointsRun + "/metrics.csv", "figure -c points.yaml"},
	} {
		kept := test.file + ".kept"
		there := os.Rename(test.file, kept) == nil
		if err := os.Symlink("/dev/null", test.file); err != nil {
			t.Fatal(err)
		}
		status, out, err := call(t, strings.Fields(test.command)...)
		if !strings.Contains(out+err, test.file+": not a file") {
			t.Errorf("%s, where %s is a device: status %d, %s", test.command, test.file, status, out+err)
		}
		if err := os.Remove(test.file); err != nil {
			t.Fatal(err)
		}
		if there {
			if err := os.Rename(kept, test.file); err != nil {
				t.Fatal(err)
			}
		}
	}
}
