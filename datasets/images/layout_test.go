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
	"iwda/internal/must"
)

// paths are the paths of a set's images below root, with their labels.
func paths(t *testing.T, set *images.Set, root string) (files []string, labels []int) {
	t.Helper()
	for i := range set.Len() {
		file := must.Have(filepath.Rel(root, set.Path(i)))(t)
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
		"Art/bike/notes.txt", "Art/bike/.hidden.jpg", "Art/readme.md", "Art/empty/readme",
	} {
		write(t, root, path, nil)
	}
	set := tree(t, root, "Art", "Bed", "Alarm_Clock", "Bike")
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
	set := tree(t, root, "d", similar...)
	if got, want := set.Counts(), []int{1, 2, 3, 4}; !slices.Equal(set.ClassNames(), similar) || !slices.Equal(got, want) {
		t.Errorf("classes %q with %v images, want %q with %v", set.ClassNames(), got, similar, want)
	}
	must.Refuse(openTree(root, "d", "C", "C#", "c*", "c "))(t, "the folder c_ has the name of no class") // it may be of either of two
}

func TestIncompleteTree(t *testing.T) {
	root := t.TempDir()
	write(t, root, "d/dog/1.jpg", nil)
	write(t, root, "d/fox/readme", nil)
	must.Refuse(openTree(root, "d", "cat", "dog", "fox"))(t, "images: "+filepath.Join(root, "d")+": no images of cat, fox")
	write(t, root, "d/wolf/1.jpg", nil)
	must.Refuse(openTree(root, "d", "cat", "dog", "fox"))(t, filepath.Join(root, "d")+": the folder wolf has the name of no class, but others have; there are cat, dog, fox")
}

func TestOpenPublishedFindsTheFirstFolder(t *testing.T) {
	folders, classes := []string{"Photos", "archive/Photos", "photo"}, []string{"cat", "dog", "Guinea_Pig"}
	for _, folder := range []string{"Photos", "photos", "archive/Photos", "photo"} {
		root := t.TempDir()
		for _, class := range classes {
			write(t, root, folder+"/"+class+"/1.jpg", nil)
		}
		set, err := images.OpenPublished("pets-photo", root, folders, classes)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := filepath.Join(root, folder, "Guinea_Pig", "1.jpg"); set.Path(2) != want || set.Name() != "pets-photo" {
			t.Errorf("image 2 of %s is %s, want %s", set.Name(), set.Path(2), want)
		}
	}
}

func TestOpenPublishedNothing(t *testing.T) {
	root := t.TempDir()
	_, err := images.OpenPublished("pets-photo", root, []string{"Photos", "archive/Photos"}, []string{"cat"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v, want one of a file that is not there", err)
	}
	for _, word := range []string{"pets-photo", root, "archive/Photos"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not name %q: %v", word, err)
		}
	}
}

func TestBroken(t *testing.T) {
	root := t.TempDir()
	good := jpegFile(t, shaded(16, 16, 100))
	write(t, root, "drawn/cat/1.jpg", good)
	write(t, root, "drawn/cat/2.png", pngFile(t, shaded(9, 9, 3)))
	write(t, root, "drawn/dog/1.jpg", good)
	write(t, root, "drawn/cat/3.jpg", good[:len(good)/2])
	write(t, root, "drawn/cat/4.jpg", []byte("<html>not found</html>"))
	write(t, root, "drawn/cat/5.jpg", nil)
	set := tree(t, root, "drawn", "cat", "dog")
	sizes, files, _, err := set.Inspect(t.Context())
	var broken []string
	// A reader says the same of them.
	reader := newReader(t, set, images.ReaderOptions{Side: 8})
	for i, size := range sizes {
		err := reader.Read(make([]byte, 3*8*8), i)
		at := slices.IndexFunc(files, func(f *images.FileError) bool { return f.Path == set.Path(i) })
		if isBroken := at >= 0; isBroken != (size.X*size.Y == 0) || isBroken != (err != nil) || isBroken && err.Error() != files[at].Err.Error() {
			t.Errorf("%s has the size %v, and a reader says %v", set.Path(i), size, err)
		}
	}
	for _, file := range files {
		broken = append(broken, filepath.Base(file.Path))
	}
	if want := []string{"3.jpg", "4.jpg", "5.jpg"}; err != nil || !slices.Equal(broken, want) {
		t.Errorf("broken files %q, want %q; error %v", broken, want, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := set.Inspect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, elsewhere, "cats/1.jpg", nil)
	write(t, root, "d/dog/1.jpg", nil)
	must.Do(t, os.Symlink(filepath.Join(elsewhere, "cats"), filepath.Join(root, "d", "cat")))
	set := tree(t, root, "d", "cat", "dog")
	if files, _ := paths(t, set, root); !reflect.DeepEqual(files, []string{"d/cat/1.jpg", "d/dog/1.jpg"}) {
		t.Errorf("files %q", files)
	}
}
