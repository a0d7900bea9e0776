package table

import (
	"iwda/datasets/catalogue"
)

// displayName is the paper's name of a data set or domain, and the name itself where it
// is of neither.
func displayName(name string) string {
	for _, data := range catalogue.All() {
		if data.Name == name {
			return data.Head
		}
		if domain, err := data.Domain(name); err == nil {
			return domain.Head
		}
	}
	return name
}
