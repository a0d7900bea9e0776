package catalogue_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// ownFiles writes files and describes the data set of two of them, and of a test set.
func ownFiles(t *testing.T, source, target, test string) (data catalogue.Dataset, from catalogue.Source) {
	t.Helper()
	root := t.TempDir()
	domains := []catalogue.Files{{Domain: "photos", Path: "photos.csv"}, {Domain: "old-sketches", Path: filepath.Join(root, "sketches.csv")}}
	for name, text := range map[string]string{"photos.csv": source, "sketches.csv": target, "test.csv": test} {
		testfiles.Write(t, filepath.Join(root, name), text)
	}
	if test != "" {
		domains[1].Test = "test.csv"
	}
	data = must.Have(find(t, "files").Of(domains))(t)
	return data, catalogue.Source{Root: root}
}

const photos = "label,u,v\ndog,1,2\ncat,3,4\n"

// The target has the source's classes in the source's order; its labels may be missing,
// all of them or some.
func TestOwnFiles(t *testing.T) {
	data, from := ownFiles(t, photos, "u,v\n5,6\n7,8\n9,0\n", "label,u,v\ndog,1,1\n,2,2\n")
	task := openTask(t, data, "photos", "old-sketches", from)
	defer task.Close()
	for _, set := range []datasets.Set{task.Source, task.Target, task.Test} {
		if !slices.Equal(set.ClassNames(), []string{"cat", "dog"}) || !slices.Equal(set.Shape(), []int{2}) {
			t.Errorf("%s: classes %q, shape %v", set.Name(), set.ClassNames(), set.Shape())
		}
	}
	if got := datasets.LabelsOf(task.Target).Known(); got != 0 || task.Target.Len() != 3 {
		t.Errorf("%d of %d target rows have labels", got, task.Target.Len())
	}
	if class, known := task.Test.Label(0); class != 1 || !known || datasets.LabelsOf(task.Test).Known() != 1 {
		t.Errorf("the test set's first row is of class %d, %v", class, known)
	}
	for domain, want := range map[string]bool{"photos": true, "old-sketches": false} {
		if labels, err := data.MayHaveLabels(from.Root, "photos", domain); err != nil || labels != want {
			t.Errorf("%s has labels: %v, %v", domain, labels, err)
		}
	}
	data, from = ownFiles(t, photos, "note,v,u\nnew,6,5\n", "v,label,u\n2,dog,1\n")
	permuted := openTask(t, data, "photos", "old-sketches", from)
	defer permuted.Close()
	for set, want := range map[datasets.Set][]float32{permuted.Target: {5, 6}, permuted.Test: {1, 2}} {
		row := make([]float32, 2)
		set.CopyRow(row, 0)
		if columns := set.(datasets.Named).Columns(); !slices.Equal(row, want) || !slices.Equal(columns, []string{"u", "v"}) {
			t.Errorf("%s: row %v, columns %q, want %v in the source's order", set.Name(), row, columns, want)
		}
	}
	data, from = ownFiles(t, photos, "u,v\n5,6\n", "")
	if task = openTask(t, data, "photos", "old-sketches", from); task.Test != task.Target {
		t.Errorf("without a test set: %v", task.Test)
	}
}

// Several sources have the classes and words of all, and the same group if they give it the same name; arrays that name
// their classes may list them in any order.
func TestSeveralOwnFiles(t *testing.T) {
	root := t.TempDir()
	domains := []catalogue.Files{{Domain: "a", Path: "a.csv", Roles: table.Roles{Group: "who"}}, {Domain: "b", Path: "b.csv", Roles: table.Roles{Group: "who"}}, {Domain: "c", Path: "c.csv"}}
	write := func(name, text string) { testfiles.Write(t, filepath.Join(root, name), text) }
	write("a.csv", "label,u,v,who\ndog,1,red,p\ncat,3,red,\n")
	write("b.csv", "label,v,who,u\nowl,blue,q,5\ncat,blue,p,5\n")
	write("c.csv", "v,u,label\nblue,2,owl\n")
	data := must.Have(find(t, "files").Of(domains))(t)
	task := openTask(t, data, "a", "c", catalogue.Source{Root: root}, "b")
	defer task.Close()
	source := datasets.Join(task.Source, task.Others[0])
	row := make([]float32, 3)
	source.CopyRow(row, 2)
	if class, _ := source.Label(2); class != 2 || !slices.Equal(row, []float32{5, 1, 0}) || !slices.Equal(source.ClassNames(), []string{"cat", "dog", "owl"}) {
		t.Errorf("row %v of class %d of %q", row, class, source.ClassNames())
	}
	if class, known := task.Target.Label(0); class != 2 || !known {
		t.Errorf("the target's label is %d, %v", class, known)
	}
	if groups := datasets.GroupsOf(source); groups[0] != groups[3] || groups[0] == groups[1] || groups[1] == groups[2] || groups[2] == groups[0] {
		t.Errorf("groups %v", groups)
	}
	if classes, err := data.ClassesOf(root, "b", "a"); err != nil || !slices.Equal(classes, source.ClassNames()) {
		t.Errorf("%q, %v", classes, err)
	}
	for i, names := range [][]string{{"cat", "dog"}, {"owl", "cat"}, {"owl", "dog", "cat"}} {
		name := "abc"[i : i+1]
		testfiles.Rows(t, filepath.Join(root, name+".npz"), 1, []float32{1, 2}, "labels", []int{0, 1}, names...)
		domains[i] = catalogue.Files{Domain: name, Path: name + ".npz"}
	}
	data = must.Have(find(t, "files").Of(domains))(t)
	arrays := openTask(t, data, "a", "c", catalogue.Source{Root: root}, "b")
	defer arrays.Close()
	for set, want := range map[datasets.Set][]int{arrays.Source: {0, 1}, arrays.Others[0]: {2, 0}, arrays.Target: {2, 1}} {
		if got := datasets.LabelsOf(set).Classes(); !slices.Equal(got, want) {
			t.Errorf("%s: labels %v, want %v", set.Name(), got, want)
		}
	}
	// Folders of images likewise.
	for _, path := range []string{"a/cat/1.png", "a/dog/1.png", "b/dog/1.png", "b/owl/1.png", "c/owl/1.png"} {
		write("images/"+path, "")
	}
	for i := range domains {
		domains[i].Path = "images/" + domains[i].Domain
	}
	data = must.Have(find(t, "files").Of(domains))(t)
	images, err := data.OpenImageTask(root, "a", "c", "b")
	if err != nil || !slices.Equal(images.Source.Labels().Classes(), []int{0, 1, 1, 2}) || !slices.Equal(images.Target.Labels().Classes(), []int{2}) {
		t.Errorf("%v of %q, %v", images.Source, images.Source.ClassNames(), err)
	}
	if labels, err := data.MayHaveLabels(root, "a", "c", "b"); !labels || err != nil {
		t.Errorf("has labels: %v, %v", labels, err)
	}
}

// Every mistake in a user's files names the file, and the row and column where there is one.
func TestOwnFilesMistakes(t *testing.T) {
	var ids strings.Builder
	ids.WriteString("label,u,v\n")
	for i := range 40_000 {
		fmt.Fprintf(&ids, "%d,1,2\n", i)
	}
	for _, test := range []struct {
		name, source, target string
		want                 []string
	}{
		{"class of the target alone", photos, "label,u,v\ncat,1,2\ncow,3,4\n", []string{"sketches.csv:3: label \"cow\" is not a class of", "photos.csv, which has cat, dog"}},
		{"a column is missing", photos, "u,w\n1,2\n", []string{`sketches.csv:1: there is no column "v", but `, `photos.csv has one; the columns of values are "u", "w"`}},
		{"a column of labels", "label,id,u\ndog,1,2\ncat,2,2\n", "label,u2\n,2\n", []string{`sketches.csv:1: there is no column "u", but `}},
		{"infinite in the source", "label,u,v\n" + strings.Repeat("dog,1,2\n", 9) + "cat,3,Inf\n", "u,v\n1,2\n", []string{`photos.csv:11: column "v": "Inf" is not a float32 number`}},
		{"infinite in the target", photos, "u,v\n1,2\nInf,2\n", []string{`sketches.csv:3: column "u": "Inf" is not a float32 number`}},
		{"no labels in the source", "u,v\n1,2\n", "u,v\n1,2\n", []string{"photos.csv: no row has a label; the source needs labels"}},
		{"unknown labels in the source", "label,u,v\n,1,2\n", "u,v\n1,2\n", []string{"photos.csv: no row has a label"}},
		{"ids as labels", ids.String(), "u,v\n1,2\n", []string{"photos.csv:32770: label \"32768\" is one of more than 32768 classes; is that the column of labels?"}},
		{"no rows", photos, "u,v\n", []string{"sketches.csv: holds no rows"}},
	} {
		data, from := ownFiles(t, test.source, test.target, "")
		_, err := data.OpenTask("photos", "old-sketches", from)
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		must.Fail(t, err, test.want...)
	}
	data, from := ownFiles(t, photos, photos, "")
	must.Refuse(data.OpenTask("photos", "paintings", from))(t, `no domain "paintings"; dataset.domains has photos, old-sketches`)
	testfiles.Remove(t, filepath.Join(from.Root, "sketches.csv"))
	must.Fail(t, data.CheckFiles(from.Root), "old-sketches: stat "+filepath.Join(from.Root, "sketches.csv"))
	must.Refuse(find(t, "files").Of([]catalogue.Files{{Domain: "a", Path: "x.npz"}, {Domain: "b", Path: "folder", Test: "y.npz"}}))(t, "x.npz and folder: one is a file of features, which ends with .npz", "the other has images; all domains must be of one kind")
	for _, path := range []string{"x.pkl", "x.npz.gz", "photos/x.H5"} {
		must.Refuse(find(t, "files").Of([]catalogue.Files{{Domain: "a", Path: "x.npz"}, {Domain: "b", Path: path}}))(t, path+": files that end with", "are not read: rows of values are read from files that end with .npz", "images from a folder")
	}
}

// Words and gaps are encoded by what the source has, in all three files; only what is missing
// may be known from the target, too.
func TestOwnFilesWithWords(t *testing.T) {
	data, from := ownFiles(t, "label,u,v\ndog,1,red\ncat,3,blue\ndog,5,red\n", "v,u\ngreen,\nblue,7\n", "label,u,v\ndog,,red\n")
	task := openTask(t, data, "photos", "old-sketches", from)
	defer task.Close()
	if columns := task.Source.(datasets.Named).Columns(); !slices.Equal(columns, []string{"u", "u is missing", "v=red", "v=blue"}) || !slices.Equal(columns, task.Learnt.Encoding.Columns()) {
		t.Errorf("%q", columns)
	}
	for set, want := range map[datasets.Set][]float32{task.Source: {1, 0, 1, 0}, task.Target: {3, 1, 0, 0}, task.Test: {3, 1, 1, 0}} {
		row := make([]float32, 4)
		if set.CopyRow(row, 0); !slices.Equal(row, want) {
			t.Errorf("%s: %v, want %v", set.Name(), row, want)
		}
	}
	// Tables of numbers alone are as they are.
	data, from = ownFiles(t, photos, "v,u\n1,2\n", "")
	if task = openTask(t, data, "photos", "old-sketches", from); task.Learnt.Encoding != nil {
		t.Fatalf("%+v", task.Learnt)
	}
	defer task.Close()
	for words, files := range map[string][3]string{
		"photos.csv: no row has a label; the source needs labels": {"class,u\ndog,1\ncat,2\n", "class,u\ndog,1\n"},
		"sketches.csv:2: label \"cow\" is not a class of":         {"label,u\ndog,red\ncat,\n", "label,u\ncow,red\n"},
		"there is no column \"v\", but ":                          {"label,u,v\ndog,1,x\ncat,2,y\n", "u\n1\n"},
	} {
		data, from := ownFiles(t, files[0], files[1], files[2])
		if task, err := data.OpenTask("photos", "old-sketches", from); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, error %v, want %q", task, err, words)
		}
	}
}

func openTask(t *testing.T, data catalogue.Dataset, source, target string, from catalogue.Source, more ...string) catalogue.Task {
	t.Helper()
	return must.Have(data.OpenTask(source, target, from, more...))(t)
}
