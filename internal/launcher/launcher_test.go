package launcher

import (
	"strings"
	"testing"
)

func TestFromEnvironment(t *testing.T) {
	whole := map[string]string{"WORLD_SIZE": "4", "RANK": "3", "LOCAL_RANK": "1", "MASTER_ADDR": "node-1", "MASTER_PORT": "29500"}
	read := func(variables map[string]string, changes ...string) (Group, int, error) {
		variables = maps(variables, changes...)
		return FromEnvironment(func(name string) (string, bool) {
			value, ok := variables[name]
			return value, ok
		})
	}
	g, local, err := read(whole)
	if want := (Group{Rank: 3, Size: 4, Host: "node-1", Port: 29500, Name: "attempt "}); g != want || local != 1 || err != nil {
		t.Errorf("got %+v, %d, %v", g, local, err)
	}
	if g, _, err = read(whole, "TORCHELASTIC_USE_AGENT_STORE", "True", "TORCHELASTIC_RESTART_COUNT", "2"); !g.Served || g.Name != "attempt 2" || err != nil {
		t.Errorf("under torchrun: %+v, %v", g, err)
	}
	if g, _, err = read(nil, "RANK", "0"); g != (Group{Size: 1}) || err != nil {
		t.Errorf("without WORLD_SIZE: %v, %v", g, err)
	}
	for name, value := range map[string]string{"WORLD_SIZE": "no", "RANK": "4", "LOCAL_RANK": "-1", "MASTER_PORT": "65536", "MASTER_ADDR": ""} {
		if _, _, err := read(whole, name, value); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%q: %v", name, value, err)
		}
	}
}

// maps returns a copy with some values changed.
func maps(variables map[string]string, changes ...string) map[string]string {
	changed := map[string]string{}
	for name, value := range variables {
		changed[name] = value
	}
	for i := 0; i < len(changes); i += 2 {
		changed[changes[i]] = changes[i+1]
	}
	return changed
}
