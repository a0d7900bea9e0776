package config

import (
	"fmt"
	"strings"
	"testing"
)

// ownFiles is a file of the data set whose domains the user names.
func ownFiles(key, value string) string {
	keys := map[string]string{"experiment": "x", "tasks": "[a-b]", "variants": "[full]", "methods": "[dann]", "seeds": "[1]"}
	keys[key] = value
	domains := "a: {path: x}"
	for _, name := range append(strings.Split(strings.Trim(numbered("a%d", 101), "[]"), ", "), "b", "photos", "sketches", "a.b_c", "d.1", "clip", "vit-b-32") {
		domains += ", " + name + ": {path: x}"
	}
	text := "dataset: {name: files, domains: {" + domains + "}}\n"
	for _, k := range []string{"experiment", "tasks", "variants", "methods", "seeds"} {
		text += k + ": " + keys[k] + "\n"
	}
	return text
}

// Every name that becomes a folder of results or a file of data stays in its folder.
func TestNamesStayInTheirFolder(t *testing.T) {
	for key, values := range map[string][]string{
		"experiment": {"../x", "/x", "..", ".", `"x/../y"`, `"a\0b"`, `"a\nb"`, strings.Repeat("x", 101)},
		"tasks": {"[../../x-y]", "[x-../y]", "[/x-y]", "[x-/y]", "[..-x]", "[x-..]", "[.-.]", `["x-y/z"]`, `["x\\y-z"]`, `["x\0-y"]`,
			"[" + strings.Repeat("x", 101) + "-y]"},
		"variants": {"[../x]", "[source-../x]", "[target-..]", "[source-/x]", `["source-x/../y"]`},
		"methods":  {"[../dann]", "[/dann]", "[dann/..]"},
	} {
		for _, value := range values {
			if _, err := Parse("f.yaml", []byte(ownFiles(key, value))); err == nil || !strings.Contains(err.Error(), "f.yaml:") {
				t.Errorf("%s: %s: error %v", key, value, err)
			}
			file := parse(t, ownFiles("experiment", "x"))
			if err := file.Set([]string{key + "=" + value}); err == nil || !strings.Contains(err.Error(), "--set "+key) {
				t.Errorf("--set %s=%s: error %v", key, value, err)
			}
		}
	}
	for _, task := range []string{"photos-sketches", "a.b_c-d.1", "clip-vit-b-32"} {
		if _, err := Parse("f.yaml", []byte(ownFiles("tasks", "["+task+"]"))); err != nil {
			t.Errorf("%s: %v", task, err)
		}
	}
}

// numbered is a list of n elements, made of a form and a number from 0.
func numbered(form string, n int) string {
	elements := make([]string, n)
	for i := range elements {
		elements[i] = fmt.Sprintf(form, i)
	}
	return "[" + strings.Join(elements, ", ") + "]"
}

func TestLongLists(t *testing.T) {
	big := ownFiles("seeds", numbered("%d", 1000))
	for name, test := range map[string]struct{ file, want string }{
		"list":     {ownFiles("tasks", numbered("a%d-b", 1001)), "f.yaml:3:8: tasks has 1001 elements; at most 1000 are possible"},
		"patterns": {ownFiles("seeds", "[1]\noverrides: [{when: {task: "+numbered("%d", 1001)+"}, train: {epochs: 1}}]"), "when.task has 1001 elements"},
		"pattern":  {ownFiles("seeds", "[1]\noverrides: [{when: {task: "+strings.Repeat("a", 300)+"}, train: {epochs: 1}}]"), "is longer than any name: 300 bytes"},
		"runs": {strings.Replace(big, "[a-b]", numbered("a%d-b", 101), 1),
			"f.yaml:6:8: 101 tasks, 1 variants, 1 methods and 1000 seeds make 101000 runs; an experiment has at most 100000"},
	} {
		if _, err := Parse("f.yaml", []byte(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
	if _, err := Parse("f.yaml", []byte(strings.Replace(big, "[a-b]", numbered("a%d-b", 100), 1))); err != nil {
		t.Errorf("100,000 runs: %v", err)
	}
	file := parse(t, minimal)
	if err := file.Set([]string{"title=" + strings.Repeat("x", maxFileSize)}); err == nil || len(err.Error()) > 200 {
		t.Errorf("a long assignment: error %.300v", err)
	}
}

// YAML's own ways to make much of little.
func TestYAMLBombs(t *testing.T) {
	aliases := "a: &a [x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		aliases += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for name, text := range map[string]string{
		"aliases": aliases + "seeds: *i\n" + minimal, "an anchor in itself": "tasks: &a [*a, *a]\n",
		"lists": strings.Repeat("[", 30_000), "mappings": strings.Repeat("{a: ", 15_000), "blocks": strings.Repeat("- ", 30_000) + "a",
		"deep keys": strings.Repeat("? ", 30_000),
	} {
		if _, err := Parse("f.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("%s: error %.300v", name, err)
		}
	}
}
