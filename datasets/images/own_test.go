package images

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// labelled lists a set's images with the names of their classes.
func labelled(set *Set) []string {
	var rows []string
	for i := range set.Len() {
		row := set.paths[i]
		if class, known := set.Labels().At(i); known {
			row += "=" + set.ClassNames()[class]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestOpenOwn(t *testing.T) {
	root := testfiles.Folder(t, map[string]string{
		"source/cat/1.png": "", "source/cat/deep/2.jpg": "", "source/Big Dog/1.png": "", "empty/readme.txt": "",
		"flat/2.png": "", "flat/1.webp": "", "flat/.hidden.png": "",
		"nested/2020/may/1.png": "", "nested/2021/1.png": "", "nested/0.png": "",
		"target/big_dog/1.png": "", "target/9.png": "",
		"digits.txt":      "a b.png 10\n\nflat/2.png\t9\nflat/1.webp -1\n",
		"no.txt":          "flat/2.png\n my picture.jpg\n",
		"target.txt":      "x.png cat\ny.png\n",
		"unknown.txt":     "a.png\tcat\nx.png\tnan\ny.png NaN\na b.png\t<NA>\nflat/1.webp\t-1\n",
		"mixed/cat/1.png": "", "mixed/cow/1.png": "", "flat/.git/1.png": "",
		"inside/a.png": "", "a b.png": "", "my picture.jpg": "", "x.png": "", "y.png": "", "a.png": "",
	})
	classes := []string{"Big Dog", "cat"}
	for _, test := range []struct {
		path    string
		classes []string // given
		want    []string // classes
		rows    []string
	}{
		{"source", nil, classes, []string{"Big Dog/1.png=Big Dog", "cat/1.png=cat", "cat/deep/2.jpg=cat"}},
		{"flat", nil, nil, []string{"1.webp", "2.png"}},
		{"x.png", nil, nil, []string{"x.png"}}, // beside folders without an image
		{"flat", classes, classes, []string{"1.webp", "2.png"}},
		{"nested", classes, classes, []string{"0.png", "2020/may/1.png", "2021/1.png"}},
		{"target", classes, classes, []string{"9.png", "big_dog/1.png=Big Dog"}},
		{"digits.txt", nil, []string{"9", "10"}, []string{"a b.png=10", "flat/2.png=9", "flat/1.webp"}},
		{"no.txt", classes, classes, []string{"flat/2.png", "my picture.jpg"}},
		{"unknown.txt", nil, []string{"cat"}, []string{"a.png=cat", "x.png", "y.png", "a b.png", "flat/1.webp"}},
		{"target.txt", classes, classes, []string{"x.png=cat", "y.png"}},
	} {
		set, err := OpenOwn(filepath.Join(root, test.path), test.classes)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := labelled(set); !slices.Equal(got, test.rows) || !slices.Equal(set.ClassNames(), test.want) {
			t.Errorf("%s: classes %q, images %q; want %q, %q", test.path, set.ClassNames(), got, test.want, test.rows)
		}
		// Without labels they are the same images in the same order.
		if unlabelled, err := OpenUnlabelled(filepath.Join(root, test.path)); err != nil || !slices.Equal(unlabelled.paths, set.paths) || unlabelled.Labels().Known() > 0 {
			t.Errorf("%s: without labels %v, %v; want %q", test.path, unlabelled, err, set.paths)
		}
		if path := set.Path(0); !strings.HasPrefix(path, root) {
			t.Errorf("%s: the first image is %s", test.path, path)
		}
	}
	outside := testfiles.Folder(t, map[string]string{"cat/a.png": ""})
	must.Do(t, errors.Join(
		os.Symlink(filepath.Join(outside, "cat", "a.png"), filepath.Join(root, "linked.png")),
		os.Symlink(filepath.Join(outside, "cat"), filepath.Join(root, "folder")),
		os.Symlink("inside", filepath.Join(root, "again")),
	))
	list := func(name, text string) string {
		path := filepath.Join(root, name)
		testfiles.Write(t, path, text)
		return path
	}
	for _, test := range []struct{ path, want string }{
		{filepath.Join(root, "mixed"), "mixed: the folder cow has the name of no class, but others have; there are Big Dog, cat"},
		{filepath.Join(root, "empty"), "no .jpg, .jpeg, .png or .webp files"},
		{filepath.Join(root, "none"), "no such file"},
		{list("class.txt", "a.png cat\nb.png cow\n"), `class.txt:2: label "cow" is not a class of the source, which has Big Dog, cat`},
		{list("leaves.txt", "a.png\n../b.png\n"), `leaves.txt:2: the path "../b.png" leaves the folder of the list`},
		{list("absolute.txt", "\n/etc/a.png\n"), `absolute.txt:2: the path "/etc/a.png" leaves`},
		{list("upwards.txt", "x/../../a.png cat\n"), `upwards.txt:1: the path "x/../../a.png" leaves`},
		{list("zero.txt", "a\x00.png\n"), "zero.txt:1: a path with a zero byte"},
		{list("endless.txt", strings.Repeat("a", 100_000)+" cat\n"), "endless.txt:1: "},
		{list("form.txt", "a.gif\n"), `form.txt:1: "a.gif" is no .jpg`},
		{list("empty.txt", ""), "no .jpg"},
		{list("link.txt", "a.png\nlinked.png cat\n"), `link.txt:2: "linked.png": path escapes from parent; what a list names must be below its folder`},
		{list("folder.txt", "folder/a.png\n"), `folder.txt:1: "folder/a.png": path escapes from parent`},
		{list("latin1.txt", "a.png\nx.png K\xf6ln\n"), "latin1.txt:2: is not UTF-8; save it"},
		{testfiles.Folder(t, map[string]string{"K\xf6ln/a.png": ""}), `the name "K\xf6ln/a.png" is not UTF-8; rename the file or folder`},
		{list("absent.txt", "x.png\nz.png cat\n"), "absent.txt:2: there is no file"},
	} {
		if _, err := OpenOwn(test.path, classes); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.path, err, test.want)
		}
	}
	// Absolute paths below the list's folder are the same images.
	absolute, err := OpenOwn(list("own.txt", filepath.Join(root, "a.png")+"\tcat\n"), classes)
	if err != nil || absolute.ID(0) != "a.png" {
		t.Errorf("absolute paths of the list's own folder: %v", err)
	}
	// A link in the place of a file that was there when the list was read leads nowhere either.
	set := must.Have(OpenOwn(list("later.txt", "again/a.png\n"), nil))(t)
	must.Do(t, errors.Join(os.Remove(filepath.Join(root, "again")), os.Symlink(filepath.Join(outside, "cat"), filepath.Join(root, "again"))))
	if file, err := set.open(0); err == nil {
		t.Errorf("%s was opened", file.Name())
	}
}

// Files of other kinds are counted, and a class that has no others is not missed.
func TestOtherKinds(t *testing.T) {
	root := testfiles.Folder(t, map[string]string{"cat/1.png": "", "cat/2.TIF": "", "cat/deep/3.tif": "", "cat/.hidden.tif": "", "readme": "", "a.bmp": ""})
	set := must.Have(OpenOwn(root, nil))(t)
	if got, want := strings.Join(set.PassedOver(), ""), root+": files that are ignored: 1 without an end, 1 .bmp, 2 .tif; images are .jpg, .jpeg, .png and .webp"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	testfiles.Write(t, filepath.Join(root, "dog", "1.tif"), "")
	must.Refuse(OpenOwn(root, nil))(t, root+": the folder dog has no .jpg, .jpeg, .png or .webp file: convert its images, or take it out")
	if set, err := OpenUnlabelled(root); err != nil || set.Len() != 1 {
		t.Errorf("without labels: %v", err)
	}
}

// The folder, and those of classes, may be links; links deeper down are not followed, in circles
// neither.
func TestFoldersThatAreLinks(t *testing.T) {
	store := testfiles.Folder(t, map[string]string{"cats/1.png": "", "cats/deep/2.png": "", "hidden/1.png": ""})
	root := testfiles.Folder(t, map[string]string{"all/dog/1.png": "", "all/0.png": ""})
	all, link := filepath.Join(root, "all"), filepath.Join(root, "link")
	must.Do(t, errors.Join(
		os.Symlink(filepath.Join(store, "cats"), filepath.Join(all, "cat")),
		os.Symlink(filepath.Join(store, "hidden"), filepath.Join(all, ".hidden")),
		os.Symlink(filepath.Join(all, "none"), filepath.Join(all, "gone")),
		os.Symlink("..", filepath.Join(all, "dog", "circle")),
		os.Symlink(all, link),
	))
	want := []string{"0.png", "cat/1.png=cat", "cat/deep/2.png=cat", "dog/1.png=dog"}
	for _, path := range []string{all, link, filepath.Join(link, "..", "link")} {
		set := must.Have(OpenOwn(path, nil))(t)
		if got := labelled(set); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		for i := range set.Len() {
			if file, err := set.open(i); err != nil {
				t.Error(err)
			} else {
				file.Close()
			}
		}
	}
}

// Whatever a line of a list says, its path stays below the list's folder.
func FuzzListLine(f *testing.F) {
	for _, seed := range []string{"", "a.jpg cat", "Real World/Bed/1.jpg\tbed", "../a.jpg", "/a.jpg", "a/../../b.jpg x", "a\x00.jpg", ".", "~ 0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		text, _ := cutLabel(line)
		if path, err := parsePath("folder", text); err == nil && !filepath.IsLocal(filepath.FromSlash(path)) {
			t.Errorf("path %q", path)
		}
	})
}

// Joined images are those of each set in turn, wherever these lie.
func TestJoin(t *testing.T) {
	content := map[string]string{"a/cat/1.png": "x", "a/dog/2.png": "", "list.txt": "b/3.png\tdog\nb/1.png cat\n", "b/3.png": "yy", "b/1.png": ""}
	root := testfiles.Folder(t, content)
	join := func(root string) *Set {
		first := must.Have(OpenOwn(filepath.Join(root, "a"), nil))(t)
		second := must.Have(OpenOwn(filepath.Join(root, "list.txt"), first.ClassNames()))(t)
		if Join(first) != first || first.Parts() != nil {
			t.Error("one set is joined")
		}
		return Join(first, second)
	}
	all := join(root)
	if rows := labelled(all); !slices.Equal(rows, []string{"cat/1.png=cat", "dog/2.png=dog", "b/3.png=dog", "b/1.png=cat"}) || !slices.Equal(all.Parts(), []int{0, 0, 1, 1}) {
		t.Errorf("%q of %v", rows, all.Parts())
	}
	for i, want := range []string{"a/cat/1.png", "a/dog/2.png", "b/3.png", "b/1.png"} {
		file, err := all.open(i)
		if err != nil || all.Path(i) != filepath.Join(root, want) || file.Name() != all.Path(i) {
			t.Fatalf("image %d: %s, %v, want %s", i, all.Path(i), err, want)
		}
		file.Close()
	}
	if labels := all.PartLabels(); len(labels) != 2 || !slices.Equal(labels[1].Classes(), []int{1, 0}) {
		t.Errorf("labels of the parts %v", labels)
	}
	here, err := all.Fingerprint()
	if there, problem := join(testfiles.Folder(t, content)).Fingerprint(); err != nil || problem != nil || here != there {
		t.Errorf("another folder: %s and %s, %v, %v", here, there, err, problem)
	}
}
