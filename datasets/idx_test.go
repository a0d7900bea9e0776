package datasets_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func TestReadIDX(t *testing.T) {
	// 3,000 images of 24×25 pass the reader's first buffer of 1 MiB.
	for _, count := range []int{0, 1, 3000} {
		plain := idxImages(count, 24, 25)
		for name, file := range map[string][]byte{"plain": plain, "gzip": testfiles.Gzip(t, plain)} {
			images := must.Have(datasets.ReadIDXImages(bytes.NewReader(file), name))(t)
			if images.Count != count || images.Rows != 24 || images.Columns != 25 {
				t.Errorf("%s: %d images of %d×%d, want %d of 24×25", name, images.Count, images.Rows, images.Columns, count)
			}
			if !bytes.Equal(images.Pixels, plain[16:]) {
				t.Errorf("%s: %d images: other pixels than the file's", name, count)
			}
		}
	}
	labels := must.Have(datasets.ReadIDXLabels(bytes.NewReader(testfiles.Gzip(t, idxLabels(3, 0, 9))), "labels", 10))(t)
	if want := []int{3, 0, 9}; !slices.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
}

func TestReadIDXRejects(t *testing.T) {
	whole := idxImages(2, 4, 4)
	zipped := testfiles.Gzip(t, whole)
	wrongSum := bytes.Clone(zipped)
	wrongSum[len(wrongSum)-8] ^= 1
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"empty":            {nil, "truncated: 0 bytes, want 16"},
		"header cut":       {whole[:9], "truncated: 9 bytes, want 16"},
		"labels' magic":    {idx(0x801, []uint32{2, 4, 4}, make([]byte, 32)), "magic number 0x00000801, want 0x00000803"},
		"no rows":          {idx(0x803, []uint32{2, 0, 4}, nil), "0×4 pixels"},
		"no columns":       {idx(0x803, []uint32{2, 4, 0}, nil), "4×0 pixels"},
		"huge rows":        {idx(0x803, []uint32{1, 1 << 31, 1}, nil), "2147483648×1 pixels"},
		"body cut":         {whole[:len(whole)-1], "truncated: 31 bytes, want 32"},
		"trailing byte":    {append(bytes.Clone(whole), 0), "more bytes after the 32"},
		"gzip cut":         {zipped[:len(zipped)/2], "truncated"},
		"gzip end cut":     {zipped[:len(zipped)-4], "at the end of the compressed stream: unexpected EOF"},
		"gzip sum":         {wrongSum, "checksum"},
		"gzip header":      {zipped[:5], "gzip header"},
		"gzip trailing":    {append(bytes.Clone(zipped), testfiles.Gzip(t, []byte{1})...), "more bytes after the 32"},
		"text":             {[]byte("a text that is no IDX file"), "magic number"},
		"claims 2^31":      {idx(0x803, []uint32{1 << 31, 28, 28}, make([]byte, 84)), "truncated: 84 bytes, want 1683627180032"},
		"claims 2^32 more": {idx(0x803, []uint32{1<<32 - 1, 1 << 14, 1 << 14}, nil), "truncated: 0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := datasets.ReadIDXImages(bytes.NewReader(test.file), "the-file")
			must.Fail(t, err, "the-file: ", test.want)
		})
	}
	must.Refuse(datasets.ReadIDXLabels(bytes.NewReader(idxLabels(1, 10)), "the-file", 10))(t, "the-file: ", "label 10 of item 1, want 0 to 9")
	_, err := datasets.ReadIDXLabels(bytes.NewReader(idxLabels(1, 2)[:9]), "the-file", 10)
	must.Fail(t, err, "the-file: ", "truncated: 1 bytes, want 2")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v is no io.ErrUnexpectedEOF", err)
	}
}

// TestReadIDXAllocatesWhatItReads has a header that claims 1.7 TB, in 100 bytes.
func TestReadIDXAllocatesWhatItReads(t *testing.T) {
	file := idx(0x803, []uint32{1 << 31, 28, 28}, make([]byte, 84))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := datasets.ReadIDXImages(bytes.NewReader(file), "the-file")
	runtime.ReadMemStats(&after)
	must.Fail(t, err, "truncated")
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 {
		t.Errorf("%d bytes allocated for a file of %d", allocated, len(file))
	}
}
