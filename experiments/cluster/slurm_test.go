package cluster

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

var update = flag.Bool("update", false, "write testdata anew")

// job is one of seven runs in two arrays.
func job() Slurm {
	return Slurm{
		Name: "digits", Config: []byte("experiment: digits\ndataset: {root: \"${IWDA_DATA:-data}/digits\"}\nnetwork: {pretrained: \"${WEIGHTS}\"}\n"),
		Set: []string{"methods=[dann, iwdan]", "title=it's $HOME"}, Indices: []int{0, 1, 2, 5, 1002, 1004, 1005},
		Arguments: []string{"--checkpoint-every=10m", "--overwrite=true"},
		Program:   "/opt/iwda/iwrun", Directory: "/home/me/my work", Results: "/home/me/my work/results",
		Options: []string{"--time=4:00:00", "--gres=gpu:1"}, TableOptions: []string{"--time=0:30:00"},
		AtOnce: 3, MaxArraySize: 1001,
	}
}

const folder = "/home/me/my work/results/digits/slurm"

func TestSlurmScripts(t *testing.T) {
	files := must.Have(job().Files(folder))(t)
	var names []string
	for _, file := range files {
		names = append(names, file.Name)
		if strings.HasSuffix(file.Name, ".sh") {
			expectGolden(t, file.Name, file.Text)
		}
	}
	if want := []string{"experiment-fa085725.yaml", "array-1.sh", "array-2.sh", "tables.sh", "submit.sh"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	if files[0].Text != string(job().Config) {
		t.Errorf("the configuration became\n%s", files[0].Text)
	}
}

func expectGolden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		testfiles.Write(t, path, text)
	}
	want := testfiles.Read(t, path)
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

func TestSlurmWithoutOptions(t *testing.T) {
	j := job()
	j.Options, j.AtOnce, j.Arguments, j.Set, j.Indices = nil, 0, nil, nil, []int{4}
	files := must.Have(j.Files(folder))(t)
	array, submit := files[1].Text, files[3].Text
	for text, script := range map[string]string{
		"#SBATCH --array=4\n": array, "--threads \"${SLURM_CPUS_PER_TASK:-1}\" &\n": array, "#SBATCH --ntasks=1\nset -u\n": array,
		"\nsubmit array-1.sh\narrays+=:$job\nsubmit tables.sh": submit,
	} {
		if !strings.Contains(script, text) {
			t.Errorf("%q is not in\n%s", text, script)
		}
	}
}

// TestConfigurationsLieSideBySide: what is queued keeps the file that it was queued with.
func TestConfigurationsLieSideBySide(t *testing.T) {
	changed := job()
	changed.Config = append(slices.Clone(changed.Config), '#')
	a, errA := job().Files(folder)
	b, errB := changed.Files(folder)
	if errA != nil || errB != nil || a[0].Name == b[0].Name || !strings.Contains(b[1].Text, b[0].Name) {
		t.Errorf("%v, %v: %s and %s", errA, errB, a[0].Name, b[0].Name)
	}
}

func TestSlurmMistakes(t *testing.T) {
	for _, value := range []string{"1 2", "a\nb", `a"b`, "a'b", "a#b", "$HOME", `a\b`} {
		j := job()
		j.TableOptions = []string{"--partition=" + value}
		if _, err := j.Files(folder); err == nil || !strings.Contains(err.Error(), "--partition") {
			t.Errorf("%q: %v", value, err)
		}
	}
	for _, name := range []string{"time limit", "", "Time", "-p"} {
		j := job()
		j.Options = []string{"--" + name}
		if _, err := j.Files(folder); err == nil || !strings.Contains(err.Error(), "--"+name) {
			t.Errorf("option %q: %v", name, err)
		}
	}
	j := job()
	j.Indices = nil
	if files, err := j.Files(folder); err == nil || !strings.Contains(err.Error(), "no runs") {
		t.Errorf("no runs: %v, %d files", err, len(files))
	}
	for _, path := range []string{"/a%j/slurm", `/a\b/slurm`} {
		must.Refuse(job().Files(path))(t, path)
	}
}

func TestCheckOptions(t *testing.T) {
	check := func(text string) error { return Slurm{Options: []string{text}}.CheckOptions() }
	for _, text := range []string{"--qos=long", "--exclusive", "--constraint=a&b|[c*2]"} {
		if err := check(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := (Slurm{Options: []string{"-p"}, TableOptions: []string{"-p", "-q"}}).CheckOptions(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes, one of which is in both lists: %v", err)
	}
	for _, text := range []string{"qos=long", "-p", "--", "--a b", "--qos=a b", ""} {
		if check(text) == nil {
			t.Errorf("%q is no mistake", text)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, test := range []struct {
		indices []int
		size    int
		want    []block
		short   []string
	}{
		{[]int{0}, 1, []block{{0, []int{0}}}, []string{"0"}},
		{[]int{0, 1, 2, 3, 4, 5, 8}, 9, []block{{0, []int{0, 1, 2, 3, 4, 5, 8}}}, []string{"0-5,8"}},
		{[]int{0, 1, 2, 3, 4, 5, 8}, 3, []block{{0, []int{0, 1, 2}}, {3, []int{0, 1, 2}}, {6, []int{2}}}, []string{"0-2", "0-2", "2"}},
		{[]int{2, 3, 7, 2002}, 1001, []block{{0, []int{2, 3, 7}}, {2002, []int{0}}}, []string{"2-3,7", "0"}},
	} {
		got := blocks(test.indices, test.size)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v by %d: %s", test.indices, test.size, diff)
		}
		for i, b := range got {
			if short := ranges(b.Tasks); short != test.short[i] {
				t.Errorf("%v became %s, want %s", b.Tasks, short, test.short[i])
			}
		}
	}
}
