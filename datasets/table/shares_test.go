package table

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

func TestReadShares(t *testing.T) {
	classes := []string{"cat", "dog", "owl"}
	path := filepath.Join(t.TempDir(), "shares.csv")
	for text, want := range map[string]string{
		"class,share\nowl,4\ncat,1\ndog,3\n":                                                  "",
		"class;share\nowl;4\ncat;1\ndog;3\n":                                                  "",
		"id,share,class\na,0.5,owl\nb,0.125,cat\nc,0.375,dog\n":                               "",
		"class,source_share,target_share,weight\ncat,1,0.125,1\nowl,1,0.5,1\ndog,1,0.375,1\n": "",
		"class,target_share,share\ncat,1,0.125\nowl,1,0.5\ndog,1,0.375\n":                     "",
		"class;share\nowl;0,5\ncat;0,125\ndog;,375\n":                                         "",
		"class,share\nowl,\"0,5\"\ncat,0.125\ndog,37.5%\n":                                    "",
		"class;share\nowl;50%\ncat;12,5 %\ndog;37,5%\n":                                       "",
		"class;share\nowl;1,234\ncat;1\ndog;2\n":                                              `shares.csv:2: the share of class "owl" is "1,234", want a number that is not negative, without separators of thousands`,
		"class,share\nowl,%\ncat,1\ndog,1\n":                                                  `the share of class "owl" is "%"`,
		"owl,2\ncat,0.5\ndog,1\n":                                                             "class and share",
		"class,share\nowl,2\ncat,0.5\n":                                                       `no line for class "dog"`,
		"class,share\nowl,2\ncow,0.5\n":                                                       `shares.csv:3: "cow"`,
		"class,share\nowl,2\nowl,2\n":                                                         `shares.csv:3: class "owl" is there twice`,
		"class,share\nowl,-1\ncat,1\ndog,1\n":                                                 `shares.csv:2: the share of class "owl" is "-1"`,
		"class,share\nowl,many\ncat,1\ndog,1\n":                                               `"many"`,
		"class,share\nowl,0\ncat,0\ndog,0\n":                                                  "every share is 0",
		"class,share\nowl,1\ncat,1\ndog,1,another\n":                                          "shares.csv:4: 3 columns; the first line names 2",
	} {
		testfiles.Write(t, path, text)
		shares, err := ReadShares(path, classes)
		if want == "" && (err != nil || !slices.Equal(shares, []float64{0.125, 0.375, 0.5})) {
			t.Errorf("%q: %v, %v", text, shares, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
