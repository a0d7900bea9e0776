package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// under begins names of pages that are none: written out, TestLinks would look for them.
const under = "docs" + "/"

// TestGenerated: the pages that follow from the code are those that make docs writes.
func TestGenerated(t *testing.T) {
	generated, err := pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range generated {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the code gives; make docs writes it (%v)", name, err)
		}
	}
}

func TestReading(t *testing.T) {
	wrong, err := readingOf(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, sentence := range wrong {
		t.Error(sentence)
	}
}

// TestLinks follows the links between pages, and those of comments, messages and
// configurations to them.
func TestLinks(t *testing.T) {
	broken, err := brokenLinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, sentence := range broken {
		t.Error(sentence)
	}
}

func TestTooLong(t *testing.T) {
	many := strings.Repeat("word ", 41)
	for text, want := range map[string]string{
		"# Title\n\nA sentence. Another one, of `code. and more`.\n": "",
		many + ".":            "a sentence of 41 words",
		"| a | " + many + "|": "a sentence of 41 words",
		strings.Repeat("word ", 21) + ".\n\n- " + strings.Repeat("word ", 21): "21.0 words on average",
		"```\n" + many + "\n```\n":         "",
		strings.Repeat("word word. ", 300): "has 600 words", // not too many
	} {
		wrong := strings.Join(tooLong(under+"howto/x.md", text), "\n")
		if strings.HasPrefix(text, "word word. ") {
			want = ""
			if more := tooLong(under+"howto/x.md", text+"More."); len(more) != 1 || !strings.Contains(more[0], "has 601 words; at most 600") {
				t.Errorf("%q", more)
			}
		}
		if !strings.Contains(wrong, want) || want == "" && wrong != "" {
			t.Errorf("%.40q: %q, want %q", text, wrong, want)
		}
	}
}

func TestBrokenLinks(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.md":         "[good](b.md#two-words) [no page](c.md) [no heading](b.md#three) [here](#title) [far](https://example.org/x)\n\n# Title\n",
		"b.md":         "# Two *words*\n```\n# three\n```\n",
		"code.go":      "// " + under + "d.md says why; " + under + "a.md is not there\n",
		under + "d.md": "",
		"build/e.md":   "[no page](c.md)",
		"x/script.sh":  "echo " + under + "d.md#nowhere\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	broken, err := brokenLinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range broken {
		broken[i] = strings.TrimPrefix(broken[i], folder+"/")
	}
	want := []string{"a.md: c.md is not there", "a.md: b.md#three has no such heading", "code.go: " + under + "a.md is not there", "x/script.sh: " + under + "d.md#nowhere has no such heading"}
	if !slices.Equal(broken, want) {
		t.Errorf("got %q\nwant %q", broken, want)
	}
}
