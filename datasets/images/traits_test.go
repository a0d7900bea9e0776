package images_test

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/images"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// shown is a file and what it shows.
type shown struct {
	Name          string
	Width, Height int
	File, Want    []byte
	Note          string
}

// readShown reads what shown.py wrote.
func readShown(t testing.TB) (cases []shown) {
	t.Helper()
	if testfiles.ReadJSON(t, "testdata/shown.json", &cases); len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

// A user's files are read as they are shown, upright and on white, and what of them is not seen is
// said with its count, by [images.Set.Inspect], and by a reader with an empty cache and with a full one.
func TestImagesAsTheyAreShown(t *testing.T) {
	cases := readShown(t)
	root := t.TempDir()
	counts := map[string]int{"": 0}
	for _, c := range cases {
		m, err := images.DecodeOwn(c.File)
		if err != nil || m.Width != c.Width || m.Height != c.Height {
			t.Errorf("%s: %+v, %v, want %d×%d pixels", c.Name, m, err, c.Width, c.Height)
			continue
		}
		tolerance := 1 // blending rounds
		if strings.HasPrefix(c.Name, "jpeg") {
			tolerance = 3
		}
		for i, want := range c.Want {
			if difference := int(m.Pix[i]) - int(want); max(difference, -difference) > tolerance {
				t.Errorf("%s: byte %d is %d, want %d", c.Name, i, m.Pix[i], want)
				break
			}
		}
		write(t, root, strings.ReplaceAll(c.Name, " ", "-")+"."+strings.Fields(c.Name)[0], c.File)
		counts[c.Note]++
	}
	for i, value := range []uint16{4095, 4096} {
		deep := image.NewGray16(image.Rect(0, 0, 2, 2))
		deep.SetGray16(1, 1, color.Gray16{Y: value})
		write(t, root, []string{"faint.png", "not-faint.png"}[i], pngFile(t, deep))
	}
	counts["16 bits a channel and no value above 4095"]++
	set := must.Have(images.OpenUnlabelled(root))(t)
	_, broken, notes, err := set.Inspect(t.Context())
	if err != nil || len(broken) > 0 || len(notes) != len(counts)-1 {
		t.Fatalf("notes %q, broken %v, %v; want %v", notes, broken, err, counts)
	}
	for note, count := range counts {
		want := fmt.Sprintf("%s: %d of %d images have %s", root, count, set.Len(), note)
		if note != "" && !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("%q: no %q", notes, want)
		}
	}
	options := images.ReaderOptions{Side: 8, Keep: true}
	for range 2 {
		reader := newReader(t, set, options)
		for i := range set.Len() {
			read(t, reader, i)
		}
		if !slices.Equal(reader.Notes(), notes) {
			t.Errorf("notes %q, want %q", reader.Notes(), notes)
		}
	}
}

// A published data set gives the pixels that its users have always had: as they are stored.
func TestPublishedImagesAreNotTurned(t *testing.T) {
	cases, root := readShown(t), t.TempDir()
	turned := slices.IndexFunc(cases, func(c shown) bool { return c.Name == "png alpha turned" })
	write(t, root, "domain/cat/1.png", cases[turned].File)
	set := tree(t, root, "domain", "cat")
	if sizes, _, notes, err := set.Inspect(t.Context()); err != nil || len(notes) > 0 || sizes[0] != image.Pt(5, 3) {
		t.Errorf("sizes %v, notes %q, %v", sizes, notes, err)
	}
}
