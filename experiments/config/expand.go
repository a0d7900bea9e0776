package config

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
)

// variable matches ${NAME} and ${NAME:-default}; an unfinished or ill-named one
// matches with an empty NAME.
var variable = regexp.MustCompile(`\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\})?`)

// expandVariables replaces the environment variables in a folder's name. As in a
// shell, an empty variable counts as unset where there is a default.
func expandVariables(path string, v reflect.Value) string {
	problem := ""
	expanded := variable.ReplaceAllStringFunc(v.String(), func(reference string) string {
		parts := variable.FindStringSubmatch(reference)
		name, fallback := parts[1], parts[2]
		value, set := os.LookupEnv(name)
		switch {
		case name == "":
			problem = fmt.Sprintf("%s is %q; a variable is written ${NAME} or ${NAME:-default}", path, v.String())
		case fallback != "" && value == "":
			return fallback[len(":-"):]
		case !set:
			problem = fmt.Sprintf("environment variable %s is not set; set it, or write ${%s:-default} in %s", name, name, path)
		}
		return value
	})
	if problem == "" {
		v.SetString(expanded)
	}
	return problem
}
