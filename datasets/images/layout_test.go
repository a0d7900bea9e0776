package images_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/images"
)

// paths are the paths of a set's images below root, with their labels.
func paths(t *testing.T, set *images.Set, root string) (files []string, labels []int) {
	t.Helper()
	for i := range set.Len() {
		file, err := filepath.Rel(root, set.Path(i))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.ToSlash(file))
	}
	for i := range set.Len() {
		labels = append(labels, classOf(set, i))
	}
	return files, labels
}

func TestOpenTree(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{
		"Art/alarm clock/2.JPG", "Art/alarm clock/10.jpeg", "Art/Bed/1.png", "Art/bike/a.webp",
		"Art/bike/notes.txt", "Art/bike/deeper/x.jpg", "Art/bike/.hidden.jpg", "Art/readme.md", "Art/empty/readme",
	} {
		write(t, root, path, nil)
	}
	set, err := openTree(root, "Art", "Bed", "Alarm_Clock", "Bike")
	if err != nil {
		t.Fatal(err)
	}
	files, labels := paths(t, set, root)
	if want := []string{"Art/Bed/1.png", "Art/alarm clock/10.jpeg", "Art/alarm clock/2.JPG", "Art/bike/a.webp"}; !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	if want := []int{0, 1, 1, 2}; !slices.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
	if got, want := set.Counts(), []int{1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}

// Classes may differ in nothing but case, spaces and signs: then their folders have to be
// named exactly as they are.
func TestOpenTreeOfSimilarClasses(t *testing.T) {
	root := t.TempDir()
	similar := []string{"C", "C#", "C++", "c_"}
	for i, class := range similar {
		for range i + 1 {
			i++
			write(t, root, fmt.Sprintf("d/%s/%d.jpg", class, i), nil)
		}
	}
	set, err := openTree(root, "d", similar...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := set.Counts(), []int{1, 2, 3, 4}; !slices.Equal(set.ClassNames(), similar) || !slices.Equal(got, want) {
		t.Errorf("classes %q with %v images, want %q with %v", set.ClassNames(), got, similar, want)
	}
	var layout *images.LayoutError
	if _, err := openTree(root, "d", "C", "C#", "c*", "c "); !errors.As(err, &layout) {
		t.Fatalf("%v, want a LayoutError", err)
	}
	if got, want := layout.Listing.ExtraFolders, []string{"d/C++", "d/c_"}; !slices.Equal(got, want) {
		t.Errorf("extra folders %q, want %q: they may be of either of two classes", got, want)
	}
}

func TestLayoutErrorListsEverything(t *testing.T) {
	root := t.TempDir()
	write(t, root, "d/dog/1.jpg", nil)
	write(t, root, "d/Dog_/1.jpg", nil)
	write(t, root, "d/wolf/1.jpg", nil)
	write(t, root, "d/fox/readme", nil)
	_, err := openTree(root, "d", "cat", "dog", "fox")
	var layout *images.LayoutError
	if !errors.As(err, &layout) {
		t.Fatalf("%v, want a LayoutError", err)
	}
	if got, want := layout.Listing.MissingClasses, []string{"cat", "fox"}; !slices.Equal(got, want) {
		t.Errorf("missing classes %q, want %q", got, want)
	}
	if got, want := layout.Listing.ExtraFolders, []string{"d/Dog_", "d/wolf"}; !slices.Equal(got, want) {
		t.Errorf("extra folders %q, want %q", got, want)
	}
	if got, want := layout.Listing.ExtraFiles, []string{"d/fox/readme"}; !slices.Equal(got, want) {
		t.Errorf("extra files %q, want %q", got, want)
	}
	for _, word := range []string{"cat", "fox", "d/wolf", filepath.Join(root, "d")} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not name %q: %v", word, err)
		}
	}
}

// fillDomain writes an image of every class below folder.
func fillDomain(t *testing.T, root, folder string, classes []string) {
	t.Helper()
	for _, class := range classes {
		write(t, root, folder+"/"+class+"/1.jpg", nil)
	}
}

// pets is a published collection of two domains.
func pets() images.Collection {
	return images.Collection{
		Name: "pets", Title: "Pets-2", Classes: []string{"cat", "dog", "Guinea_Pig"}, Example: "Photos/cat/1.jpg",
		Domains: []images.Domain{
			{Name: "photo", Folders: []string{"Photos", "archive/Photos", "photo"}, Counts: []int{1, 2, 1}},
			{Name: "drawing", Folders: []string{"Drawings"}, Counts: []int{1, 1, 1}},
		},
	}
}

func TestOpenFindsTheFirstFolder(t *testing.T) {
	for _, folder := range []string{"Photos", "photos", "archive/Photos", "photo"} {
		root := t.TempDir()
		fillDomain(t, root, folder, pets().Classes)
		set, err := pets().Open(root, "photo")
		if err != nil {
			t.Error(err)
			continue
		}
		if want := filepath.Join(root, folder, "Guinea_Pig", "1.jpg"); set.Path(2) != want || set.Name() != "pets-photo" {
			t.Errorf("image 2 of %s is %s, want %s", set.Name(), set.Path(2), want)
		}
	}
}

func TestUnknownDomain(t *testing.T) {
	if _, err := pets().Domain("Photo"); err == nil || !strings.Contains(err.Error(), "photo, drawing") {
		t.Errorf("%v, want an error that lists the domains", err)
	}
}

func TestOpenNothing(t *testing.T) {
	root := t.TempDir()
	_, err := pets().Open(root, "photo")
	var missing *images.MissingDomainError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v, want a MissingDomainError", err)
	}
	for _, word := range []string{"photo", "Pets-2", root, "archive/Photos"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not name %q: %v", word, err)
		}
	}
}

// small is a data set that a test can have all files of.
func small() images.Collection {
	return images.Collection{
		Name: "small", Title: "Small", Classes: []string{"cat", "dog"},
		Domains: []images.Domain{
			{Name: "drawn", Folders: []string{"drawn"}, Counts: []int{2, 1}},
			{Name: "photo", Folders: []string{"photo"}, Counts: []int{1, 1}},
		},
	}
}

func TestCheckFindsEverything(t *testing.T) {
	root := t.TempDir()
	good := jpegFile(t, shaded(16, 16, 100))
	write(t, root, "drawn/cat/1.jpg", good)
	write(t, root, "drawn/cat/2.png", pngFile(t, shaded(9, 9, 3)))
	write(t, root, "drawn/dog/1.jpg", good)
	report, err := small().Check(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if drawn := &report.Domains[0]; !drawn.OK() {
		t.Errorf("the whole domain is not OK: %+v", drawn)
	}
	if photo := &report.Domains[1]; photo.OK() || !errors.Is(photo.Err, fs.ErrNotExist) {
		t.Errorf("the missing domain: error %v", photo.Err)
	}
	if report.OK() {
		t.Error("a report with a missing domain is OK")
	}

	write(t, root, "drawn/cat/3.jpg", good[:len(good)/2])
	write(t, root, "drawn/cat/4.jpg", []byte("<html>not found</html>"))
	write(t, root, "drawn/cat/5.jpg", nil)
	write(t, root, "photo/cat/1.jpg", good)
	write(t, root, "photo/dog/1.jpg", good)
	report, err = small().Check(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := report.Domains[0]
	if want := []int{5, 1}; !slices.Equal(drawn.Counts, want) {
		t.Errorf("counts %v, want %v", drawn.Counts, want)
	}
	var broken []string
	for _, file := range drawn.Broken {
		broken = append(broken, filepath.Base(file.Path))
	}
	if want := []string{"3.jpg", "4.jpg", "5.jpg"}; !slices.Equal(broken, want) {
		t.Errorf("broken files %q, want %q", broken, want)
	}
	if !report.Domains[1].OK() || report.OK() {
		t.Error("the photographs should be OK, the whole not")
	}
}

func TestCheckStops(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{"drawn/cat/1.jpg", "drawn/cat/2.jpg", "drawn/dog/1.jpg"} {
		write(t, root, path, nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := small().Check(ctx, root); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, elsewhere, "cats/1.jpg", nil)
	write(t, root, "d/dog/1.jpg", nil)
	if err := os.Symlink(filepath.Join(elsewhere, "cats"), filepath.Join(root, "d", "cat")); err != nil {
		t.Fatal(err)
	}
	set, err := openTree(root, "d", "cat", "dog")
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := paths(t, set, root); !reflect.DeepEqual(files, []string{"d/cat/1.jpg", "d/dog/1.jpg"}) {
		t.Errorf("files %q", files)
	}
}
