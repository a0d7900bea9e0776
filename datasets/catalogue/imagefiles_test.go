package catalogue

import (
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

// A copy is compared class by class, and every image is decoded.
func TestCheckImages(t *testing.T) {
	data := imageFiles(Dataset{
		Name: "pets", Classes: []string{"cat", "dog"},
		Domains: []Domain{
			{Name: "drawn", folders: []string{"drawn"}, Train: []int{2, 1}},
			{Name: "photo", folders: []string{"archive/photo", "photo"}, Train: []int{1, 1}},
		},
	}, "", "")
	root := t.TempDir()
	for _, path := range []string{"drawn/cat/1.png", "drawn/cat/2.png", "drawn/dog/1.png", "photo/cat/1.png", "photo/dog/1.png"} {
		path = filepath.Join(root, path)
		testfiles.MakeFolder(t, filepath.Dir(path))
		must.Do(t, wholefile.Write(path, func(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 2, 2))) }))
	}
	check := func() (string, error) {
		var said strings.Builder
		err := data.Check(t.Context(), root, &said)
		return said.String(), err
	}
	const whole = "drawn: 3 of 3 images, as published\nphoto: 2 of 2 images, as published\n"
	if said, err := check(); err != nil || said != whole {
		t.Errorf("a whole copy: %v\n%s", err, said)
	}
	testfiles.Write(t, filepath.Join(root, "photo", "notes.txt"), "")
	if said, err := check(); err != nil || said != whole+"  pets-photo: files that are ignored: 1 .txt; images are .jpg, .jpeg, .png and .webp\n" {
		t.Errorf("a whole copy and a file more: %v\n%s", err, said)
	}
	html := filepath.Join(root, "drawn", "dog", "1.png")
	testfiles.Write(t, html, "<html>")
	if said, err := check(); err == nil || !strings.Contains(said, "drawn: 3 of 3 images, not as published\n  broken: "+html) {
		t.Errorf("a broken image: %v\n%s", err, said)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := data.Check(ctx, root, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}
