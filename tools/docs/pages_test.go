// Package docs tests the pages: whether those of docs/reference that follow from the code are current, and the words,
// sentences and links of all. With -write they are written instead: configuration.md, estimators.md and criteria.md.
package docs

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/input"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

const root = "../.."

var write = flag.Bool("write", false, "write the pages that follow from the code before they are checked")

// under begins names of pages that are none: written out, TestPages would look for them.
const under = "docs" + "/"

// TestPages: those that follow from the code are what make docs writes, none is too long, and
// links between them, and those of comments, messages and configurations to them, lead somewhere.
func TestPages(t *testing.T) {
	generated := must.Have(pages(root))(t)
	if *write {
		for name, text := range generated {
			must.Do(t, os.WriteFile(filepath.Join(root, name), text, 0o666))
		}
	}
	for _, sentence := range must.Have(check(root, generated))(t) {
		t.Error(sentence)
	}
}

// check returns everything that is wrong with the pages.
func check(root string, generated map[string][]byte) ([]string, error) {
	var wrong []string
	for name, want := range generated {
		if got, err := input.Read(filepath.Join(root, name), input.Text); err != nil || !bytes.Equal(got, want) {
			wrong = append(wrong, name+" is not what the code gives; make docs writes it")
		}
	}
	read, err := readingOf(root)
	if err != nil {
		return nil, err
	}
	broken, err := brokenLinks(root)
	return append(append(wrong, read...), broken...), err
}

// TestCheck: pages that were not written are a defect each.
func TestCheck(t *testing.T) {
	folder := t.TempDir()
	testfiles.MakeFolder(t, filepath.Join(folder, under))
	for name, text := range map[string]string{"README.md": "[no page](a.md)", under + "made.md": "as it was"} {
		testfiles.Write(t, filepath.Join(folder, name), text)
	}
	wrong, err := check(folder, map[string][]byte{under + "made.md": []byte("as it is")})
	if err != nil || len(wrong) != 2 || !strings.HasPrefix(wrong[0], under+"made.md is not what the code gives") || !strings.HasSuffix(wrong[1], "a.md is not there") {
		t.Errorf("%q, %v", wrong, err)
	}
}

// TestNoSchema: the folder that should hold it is named.
func TestNoSchema(t *testing.T) {
	if _, err := keyComments(t.TempDir()); err == nil || err.Error() != "experiments/config: no Go files" {
		t.Error(err)
	}
}

func TestTooLong(t *testing.T) {
	many := strings.Repeat("word ", 41)
	long := strings.Repeat("word word. ", 300)
	for text, want := range map[string]string{
		"# Title\n\nA sentence. Another one, of `code. and more`.\n": "",
		many + ".":            "a sentence of 41 words",
		"| a | " + many + "|": "a sentence of 41 words",
		strings.Repeat("word ", 21) + ".\n\n- " + strings.Repeat("word ", 21): "21.0 words on average",
		"```\n" + many + "\n```\n": "",
		long:                       "", // of 600 words
	} {
		wrong := strings.Join(tooLong(under+"howto/x.md", text), "\n")
		if !strings.Contains(wrong, want) || want == "" && wrong != "" {
			t.Errorf("%.40q: %q, want %q", text, wrong, want)
		}
	}
	if more := tooLong(under+"howto/x.md", long+"More."); len(more) != 1 || !strings.Contains(more[0], "has 601 words; at most 600") {
		t.Errorf("%q", more)
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
		testfiles.Write(t, filepath.Join(folder, name), text)
	}
	broken := must.Have(brokenLinks(folder))(t)
	for i := range broken {
		broken[i] = strings.TrimPrefix(broken[i], folder+"/")
	}
	want := []string{"a.md: c.md is not there", "a.md: b.md#three has no such heading", "code.go: " + under + "a.md is not there", "x/script.sh: " + under + "d.md#nowhere has no such heading"}
	if !slices.Equal(broken, want) {
		t.Errorf("got %q\nwant %q", broken, want)
	}
}
