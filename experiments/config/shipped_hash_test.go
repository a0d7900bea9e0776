package config

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
)

// The hashes of all runs of every shipped file stay as they are, so that results of former
// versions count: of the first and the last run, and of the hashes of all, one a line.
func TestShippedFilesKeepTheirHashes(t *testing.T) {
	t.Setenv("IWDA_DATA", "") // the file of pretrained weights counts
	known := map[string]struct {
		runs             int
		first, last, all string
	}{
		"ablation.yaml":      {280, "81ac4e41fd1be583", "c8673ebcb456b691", "2a01576acfe09538"},
		"demo.yaml":          {12, "c81f80f85728c2f2", "1565bac2807946cb", "38ec3f831bab6776"},
		"digits-jsd.yaml":    {600, "019150622a577dd5", "a1e30f13620259e0", "28d2eb3b83e971fd"},
		"digits-quick.yaml":  {28, "6f5c10632c044162", "dcd3ac5e8f5dae74", "bcae486d60557997"},
		"digits-robust.yaml": {12, "b879faad770adc58", "20079fa65514cc96", "6d0bfde1e49e1dd3"},
		"digits.yaml":        {140, "2f6e2d723da69467", "c8673ebcb456b691", "363b344a7d2ea021"},
		"office31.yaml":      {600, "0f9dadbddd808439", "ae8a7d657be14d94", "ac644e74df7bf9ee"},
		"officehome.yaml":    {1200, "9b0b58576b21f9c9", "6e88ab1a01f7a722", "8944dbbf44f7800b"},
		"own-data.yaml":      {9, "aed95a25b9351ec9", "6bbea97096a48fcc", "925711e3646f0ea9"},
		"visda.yaml":         {100, "a04b83bbd3c6527f", "3f35dbae77f55846", "2ee50509e29ec385"},
	}
	for _, path := range shippedFiles(t) {
		file := load(t, path)
		c := file.Config
		var hashes []string
		all := sha256.New()
		for _, task := range c.Tasks {
			for _, variant := range c.Variants {
				for _, method := range c.Methods {
					for _, seed := range c.Seeds {
						run := resolved(t, file, task, variant, method, seed)
						hashes = append(hashes, run.Hash())
						fmt.Fprintln(all, run.Hash())
					}
				}
			}
		}
		name := filepath.Base(path)
		want := known[name]
		if len(hashes) != want.runs || hashes[0] != want.first || hashes[len(hashes)-1] != want.last || fmt.Sprintf("%x", all.Sum(nil)[:8]) != want.all {
			t.Errorf("%s: %d runs from %s to %s, %x in all; want %+v", name, len(hashes), hashes[0], hashes[len(hashes)-1], all.Sum(nil)[:8], want)
		}
	}
}

// The ablation shares six methods with the Digits table: as their hashes are the same, runs of one are
// runs of the other.
func TestAblationSharesRunsWithDigits(t *testing.T) {
	hashes := func(path string) map[string]string {
		file := load(t, "../../configs/"+path)
		of := map[string]string{}
		for _, task := range file.Config.Tasks {
			for _, method := range file.Config.Methods {
				run := resolved(t, file, task, Subsampled, method, 1)
				of[task+" "+method] = run.Hash()
			}
		}
		return of
	}
	ablation, shared := hashes("ablation.yaml"), 0
	for run, hash := range hashes("digits.yaml") {
		if other, is := ablation[run]; is && other == hash {
			shared++
		} else if is {
			t.Errorf("%s: %s and %s", run, hash, other)
		}
	}
	if shared != 12 {
		t.Errorf("%d runs of a seed and variant are shared, want 12", shared)
	}
}
