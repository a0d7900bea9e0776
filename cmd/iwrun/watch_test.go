package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// writeNight writes probabilities of two classes, of which a share is sick, with labels or without.
func writeNight(t *testing.T, name string, seed uint64, rows int, share float64, labelled bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	var b strings.Builder
	b.WriteString("probability_well,probability_sick,patient,when" + map[bool]string{true: ",label"}[labelled] + "\n")
	for i := range rows {
		label, p := "well", 0.6*random.Float64()
		if random.Float64() < share {
			label, p = "sick", 0.4+0.6*random.Float64()
		}
		fmt.Fprintf(&b, "%.4f,%.4f,p%d,2026-11-%02d", 1-p, p, i/2, seed%28+1)
		if labelled {
			b.WriteString("," + label)
		}
		b.WriteString("\n")
	}
	testfiles.Write(t, name, b.String())
}

func inNights(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeNight(t, "held-out.csv", 100, 4000, 0.3, true)
	for night := range 6 {
		share := 0.3
		if night > 2 {
			share = 0.8
		}
		writeNight(t, fmt.Sprintf("night%d.csv", night), uint64(night), 1200, share, false)
	}
}

var nightly = []string{"watch", "held-out.csv", "night0.csv", "night1.csv", "night2.csv", "night3.csv", "night4.csv", "night5.csv", "--alarm", "share(sick) > 0.5"}

// The status says whether an alarm has sounded, each batch has a line, and a call that is repeated changes nothing.
func TestWatch(t *testing.T) {
	inNights(t)
	columns := []string{"--time-column", "when", "--group-column", "patient", "--state", "s.json", "--log", "l.jsonl", "--metrics", "m.prom", "--page", "p.html"}
	if status, out, said := call(t, append([]string{"watch", "held-out.csv", "night0.csv", "--alarm", "share(sick) > 0.5"}, columns...)...); status != 0 || !strings.Contains(out, "night0.csv: 600 rows; well ") || strings.Contains(out, "ALARM") {
		t.Fatalf("status %d, stdout %s, stderr %s", status, out, said)
	}
	status, out, said := call(t, append(nightly, columns...)...)
	if status != 3 || strings.Count(out, "\n") != 5 || !strings.Contains(out, "ALARM share(sick) > 0.5 (since night") || !strings.Contains(said, "night0.csv was counted already") {
		t.Fatalf("status %d, stdout %s, stderr %s", status, out, said)
	}
	before := map[string][]byte{}
	for _, name := range []string{"s.json", "l.jsonl", "m.prom", "p.html"} {
		before[name], _ = os.ReadFile(name)
		if len(before[name]) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	if status, _, _ := call(t, append(nightly, columns...)...); status != 3 {
		t.Errorf("again: status %d", status)
	}
	for name, want := range before {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s changed, %v", name, err)
		}
	}
	// A state is a batch, and two are compared.
	if status, _, said := call(t, "watch", "held-out.csv", "s.json", "--group-column", "patient", "--state", "all.json"); !strings.Contains(said, "6 of 6 batches are new") {
		t.Errorf("status %d, stderr %s", status, said)
	}
	if status, out, said := call(t, "watch", "--compare", "s.json", "all.json"); status != 0 || !strings.Contains(out, "+0.0000") {
		t.Errorf("status %d, stdout %s, stderr %s", status, out, said)
	}
}

func TestWatchWrongly(t *testing.T) {
	inNights(t)
	call(t, "watch", "held-out.csv", "night0.csv", "--state", "s.json")
	testfiles.Write(t, "broken.json", `{"format":"iwda watch 1","sha256":"`)
	writeNight(t, "night1.csv", 50, 100, 0.3, false)
	testfiles.Write(t, "other.csv", "probability_a,probability_b\n0.5,0.5\n")
	for line, want := range map[string]string{
		"watch held-out.csv night0.csv":                                      "--state FILE",
		"watch held-out.csv night0.csv night1.csv --state s.json --batch x":  "names a single batch",
		"watch held-out.csv night0.csv --state held-out.csv":                 "written over",
		"watch held-out.csv night0.csv --state s.json --forget x":            "--forget",
		"watch held-out.csv night0.csv --state s.json --level 2":             "at most 0.5; it must be above 0",
		"watch held-out.csv night0.csv --state s.json --alarm shares":        "more changed",
		"watch held-out.csv night1.csv --state s.json --alarm accuracy<0.9":  "an alarm is right only if it stood before",
		"watch held-out.csv night1.csv --state s.json --batch night0.csv":    "was counted with other rows",
		"watch held-out.csv other.csv --state s.json":                        "other.csv",
		"watch held-out.csv missing.csv --state s.json":                      "missing.csv",
		"watch held-out.csv night1.csv --state broken.json":                  "broken.json",
		"watch night0.csv night1.csv --state t.json":                         "no labels",
		"watch held-out.csv night1.csv --state t.json --time-column patient": "is no time",
		"watch held-out.csv night1.csv --state t.json --group-column nobody": "nobody",
		"watch --compare s.json":                                             "name two states",
	} {
		before, _ := os.ReadFile("s.json")
		status, out, said := call(t, strings.Fields(line)...)
		if status != 2 || out != "" || !strings.Contains(said, want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q, want %q", line, status, out, said, want)
		}
		if after, _ := os.ReadFile("s.json"); !bytes.Equal(before, after) {
			t.Errorf("%s: the state changed", line)
		}
	}
}

// With the folder of an adaptation, or of its run, rows pass through the first model that predicts.
func TestWatchFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	succeed(t, adaptLine("--set", "methods=[source-only@linear]")...)
	for _, folder := range []string{"out", "out/runs/adapt/full/source-target/source-only@linear/seed-1"} {
		state := folder[len(folder)-3:] + ".json"
		status, out, said := call(t, "watch", folder, "target.csv", "--state", state, "--device", "cpu", "--batch", "tonight")
		if status != 0 && status != 3 || !strings.Contains(out, "tonight: ") || !strings.Contains(out, " rows; ") {
			t.Errorf("%s: status %d\n%s%s", folder, status, said, out)
		}
	}
	if a, b := readFile(t, "out.json"), readFile(t, "d-1.json"); a[len(a)-300:] != b[len(b)-300:] {
		t.Errorf("the run and the folder count otherwise:\n%s\n%s", a, b)
	}
	if status, _, said := call(t, "watch", "out", "target.csv", "--state", "g.json", "--group-column", "id"); status != 2 || !strings.Contains(said, "have no groups") {
		t.Errorf("groups: status %d, %s", status, said)
	}
}
