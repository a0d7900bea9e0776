package main

import (
	"os"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// No command replaces a file that it reads, under whatever name, and nothing is written where
// it would.
func TestNothingReadIsWrittenOver(t *testing.T) {
	trainPoints(t)
	for link, to := range map[string]string{"west.npz": "data/west.npz", "linked": pointsRun} {
		must.Do(t, os.Symlink(to, link))
	}
	testfiles.Write(t, "shares.csv", "class,share\n0,1\n1,1\n2,1\n")
	testfiles.Write(t, "rows.csv", "x,y,z,u\n1,2,3,4\n")
	testfiles.Write(t, "own.yaml", strings.NewReplacer(
		"experiment: points", "experiment: own",
		"west: {path: data/west.npz}", "west: {path: results/own/features/full/east-west/iwdan/seed-1/west.npz}",
	).Replace(points))
	for _, folder := range []string{"results/own/features/full/east-west/iwdan/seed-1", "adapted/model"} {
		testfiles.MakeFolder(t, folder)
	}
	_, figures, _ := call(t, "figure", "-c", "points.yaml")
	figure, _, _ := strings.Cut(figures, "\n")
	testfiles.Remove(t, figure)
	for link, to := range map[string]string{
		"results/own/features/full/east-west/iwdan/seed-1/west.npz": "data/west.npz", "adapted/predictions.csv": "rows.csv", "adapted/model/model.safetensors": pointsRun + "/checkpoint.safetensors",
		figure: "points.yaml",
	} {
		must.Do(t, os.Link(to, link))
	}
	testfiles.MakeFolder(t, "features")
	succeed(t, "export", pointsRun, "-o", "m/seed-2")
	names := []string{"m/seed-2/model.json", "m/seed-2/model.safetensors", "points.yaml", "data/west.npz", "data/east.npz", "shares.csv", "rows.csv", "own.yaml", pointsRun + "/model.json", pointsRun + "/checkpoint.safetensors"}
	before := map[string]string{}
	for _, name := range names {
		before[name] = readFile(t, name)
	}
	for _, line := range []string{
		"predict RUN data/west.npz -o data/west.npz",
		"predict RUN data/east.npz data/west.npz -o west.npz",
		"predict RUN data/west.npz --shares shares.csv -o ./shares.csv",
		"export RUN --onnx RUN/checkpoint.safetensors",
		"export RUN --onnx shares.csv --shares shares.csv",
		"export RUN -o RUN",
		"export RUN -o linked",
		"export m/seed-2 -o m",
		"export m -o m/seed-2",
		"export results/points/full/east-west/iwdan -o RUN",
		"adapt --source data/east.npz --target rows.csv -o adapted",
		"adapt --source adapted/model/model.safetensors --target data/west.npz -o adapted",
		"adapt --source features --target data/west.npz -o features",
		"figure -c " + figure,
	} {
		status, out, said := call(t, strings.Fields(strings.ReplaceAll(line, "RUN", pointsRun))...)
		if status != 2 || out != "" || !strings.Contains(said, "written over") || !strings.Contains(said, "Usage") {
			t.Errorf("%s: status %d\n%s%s", line, status, out, said)
		}
		for _, name := range names {
			if readFile(t, name) != before[name] {
				t.Fatalf("%s: %s changed", line, name)
			}
		}
	}
}
