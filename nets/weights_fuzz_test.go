package nets

import (
	"path/filepath"
	"testing"

	"iwda/internal/allocation"
	"iwda/internal/testfiles"
	"iwda/nets/statedict"
	"iwda/torch"
)

// A file of any form and content is tensors or an error.
func FuzzParseStateDict(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(weightFiles, "*.pth"))
	if err != nil || len(names) == 0 {
		f.Fatalf("files %q, error %v", names, err)
	}
	for _, name := range names {
		content := testfiles.Read(f, name)
		f.Add(content)
	}
	f.Add([]byte("\x35\x00\x00\x00\x00\x00\x00\x00" + `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}` + "x"))
	f.Fuzz(func(t *testing.T, file []byte) {
		torch.Tidy(func() {
			allocation.Within(t, min(1<<20+2000*len(file), allocation.Allowed(len(file))), func() {
				entries, err := statedict.Parse(file)
				if err != nil {
					return
				}
				values, err := torch.TensorsOf(entries)
				for name, value := range values {
					if err != nil || value.Len() > len(file) {
						t.Errorf("%s is a %v, with the error %v", name, value, err)
					}
				}
			})
		})
	})
}
