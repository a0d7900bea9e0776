package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/datasets/catalogue"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Without the data, an image experiment says in five lines what to put where.
func TestMissingImagesAreExplained(t *testing.T) {
	inFolder(t)
	testfiles.Write(t, "office.yaml", "experiment: office\ndataset: {name: office31, root: nowhere}\ntasks: [amazon-dslr]\nvariants: [full]\nmethods: [iwdan]\nseeds: [1]\n")
	status, out, err := call(t, "-c", "office.yaml")
	if lines := strings.Split(strings.TrimSpace(err), "\n"); status != 2 || out != "" || len(lines) != 5 {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, err)
	}
	for _, part := range []string{"office.yaml:2:33", "amazon/images (2817 images)", "nowhere/amazon/images/back_pack/frame_0001.jpg"} {
		if !strings.Contains(err, part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if _, err := os.Stat("results"); !os.IsNotExist(err) {
		t.Errorf("results: %v", err)
	}
}

func TestDataCheckAndList(t *testing.T) {
	inFolder(t)
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 4, 4))))
	data := must.Have(catalogue.Find("office31"))(t)
	for _, class := range data.Classes {
		testfiles.Write(t, filepath.Join("copy", "amazon", "images", class, "frame_0001.png"), file.String())
	}
	testfiles.Write(t, "copy/amazon/images/bike/frame_0002.png", "no image")
	status, out, said := call(t, "data", "check", "--root", "copy", "office31")
	if status != 1 || !strings.Contains(said, "not as published") {
		t.Errorf("status %d, stderr %q", status, said)
	}
	for _, part := range []string{
		"amazon: 32 of 2817 images, not as published",
		"  bike: 2 images, want 82",
		"  broken: copy/amazon/images/bike/frame_0002.png: ",
		"dslr: images: nothing of office31-dslr",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("%q lacks %q", out, part)
		}
	}
	if status, _, err := call(t, "data", "check", "--root", "copy", "digits"); status != 1 || !strings.Contains(err, "train-images-idx3-ubyte") {
		t.Errorf("digits: status %d, stderr %q", status, err)
	}
	if status, _, err := call(t, "data", "check", "offce31"); status != 2 || !strings.Contains(err, "office31") {
		t.Errorf("misspelt: status %d, stderr %q", status, err)
	}
	if status, _, err := call(t, "data", "check", "glyphs"); status != 2 || !strings.Contains(err, "no published form") || !strings.Contains(err, "digits, office31, officehome, visda") {
		t.Errorf("drawn: status %d, stderr %q", status, err)
	}
	if status, out, _ := call(t, "data", "list"); status != 0 || !strings.Contains(out, "visda") || !strings.Contains(out, "MNIST") || !strings.Contains(out, "here the working directory. ") {
		t.Errorf("list: status %d, %q", status, out)
	}
}
