package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Roles name the columns, or arrays, of a file that are no features, and each of which must then be
// there. The zero value leaves labels and ids to their usual names.
type Roles struct {
	// Label is the column of labels.
	Label string `yaml:"label_column,omitempty"`
	// ID is the column of ids.
	ID string `yaml:"id_column,omitempty"`
	// Group is the column that says which rows belong together, such as the visits of a patient do.
	Group string `yaml:"group_column,omitempty"`
	// GroupBy are columns of features: rows that have the same values in all of them belong together.
	GroupBy []string `yaml:"group_by,omitempty,flow"`
	// Independent says that no rows belong together, so that nothing looks for some that do.
	Independent bool `yaml:"independent,omitempty"`
	// Ignore are columns that are skipped.
	Ignore []string `yaml:"ignore,omitempty,flow"`
	// DomainColumn is the column that says to which domain a row belongs.
	DomainColumn string `yaml:"domain_column,omitempty"`
	// DomainValue is what this column says in the domain's rows. Other rows are skipped.
	DomainValue string `yaml:"domain_value,omitempty"`
	// Decimal is the sign before the fractions of numbers in files of text, a point or a comma, if the
	// numbers do not say it.
	Decimal string `yaml:"decimal,omitempty"`
}

// None reports whether nothing is said of columns.
func (r Roles) None() bool { return r.named() == nil && r.GroupBy == nil && r.Decimal == "" }

// named lists the columns that are named.
func (r Roles) named() (names []string) {
	for _, name := range append([]string{r.Label, r.ID, r.Group, r.DomainColumn}, r.Ignore...) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Rest lists those of the columns that are not named.
func (r Roles) Rest(columns []string) []string {
	named := set(r.named())
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return named[name] })
}

// GoString is the text by which roles count in the hash of a run: as it was before Group, GroupBy and Decimal,
// if those are empty. Independent changes no run.
func (r Roles) GoString() string {
	group, decimal := "", ""
	if r.Group != "" {
		group = fmt.Sprintf(", Group:%q", r.Group)
	}
	if r.GroupBy != nil {
		group += fmt.Sprintf(", GroupBy:%q", r.GroupBy)
	}
	if r.Decimal != "" {
		decimal = fmt.Sprintf(", Decimal:%q", r.Decimal)
	}
	return fmt.Sprintf("table.Roles{Label:%q, ID:%q%s, Ignore:%#v, DomainColumn:%q, DomainValue:%q%s}",
		r.Label, r.ID, group, r.Ignore, r.DomainColumn, r.DomainValue, decimal)
}

// String says what is named; "" if nothing is.
func (r Roles) String() string {
	var parts []string
	for _, role := range []struct{ what, column string }{{"labels", r.Label}, {"ids", r.ID}, {"groups", r.Group}} {
		if role.column != "" {
			parts = append(parts, fmt.Sprintf("%s in %.100q", role.what, role.column))
		}
	}
	if r.GroupBy != nil {
		parts = append(parts, "groups by "+listed(r.GroupBy))
	}
	if r.Independent {
		parts = append(parts, "rows on their own")
	}
	if len(r.Ignore) > 0 {
		parts = append(parts, "without "+listed(r.Ignore))
	}
	if r.DomainColumn != "" {
		parts = append(parts, fmt.Sprintf("rows with %.100q in %.100q", r.DomainValue, r.DomainColumn))
	}
	if r.Decimal != "" {
		parts = append(parts, fmt.Sprintf("fractions after %q", r.Decimal))
	}
	return strings.Join(parts, ", ")
}

// Equal reports whether both name the same.
func (r Roles) Equal(other Roles) bool {
	return r.Label == other.Label && r.ID == other.ID && r.Group == other.Group && slices.Equal(r.GroupBy, other.GroupBy) &&
		r.Independent == other.Independent && slices.Equal(r.Ignore, other.Ignore) &&
		r.DomainColumn == other.DomainColumn && r.DomainValue == other.DomainValue && r.Decimal == other.Decimal
}

// Names lists the arrays or columns of a file that have a name, in their order. That of a .npy file has none.
func Names(path string) ([]string, error) {
	t, err := described(path)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(t.there, func(name string) bool { return name == "" }), nil
}

// ClassesOf returns the classes that a file that [ReadText] reads has probabilities of, in their order; none if it has
// only the largest probability of each row.
func ClassesOf(path string) ([]string, error) {
	if err := columnsOfText(path); err != nil {
		return nil, err
	}
	t, err := described(path)
	if err != nil {
		return nil, err
	}
	return t.named, nil
}

// described is what the header of a file says; what else is wrong is a question of the rows.
func described(path string) (*Table, error) {
	open, known := forms[extension(path)]
	if !known {
		return nil, unknownForm(path)
	}
	t := &Table{name: path}
	if _, err := t.open(open); err == nil {
		return t, t.Close()
	} else if t.there == nil {
		return nil, err
	}
	return t, nil
}

// Domain is one of those of which a file holds rows.
type Domain struct {
	Value          string
	Rows, Labelled int
}

// maxDomains bounds the values of a column of domains. More are no domains.
const maxDomains = 1000

// Domains counts the rows of each value of a file's column of domains, in the order in which they
// occur.
func Domains(path string, roles Roles) (domains []Domain, err error) {
	t, err := Open(path, Options{Kind: Features, Roles: roles})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	t.everyDomain = true
	index := make(map[string]int)
	const size = 4096
	for b, err := range t.pass(true, size, nil) {
		if err != nil {
			return nil, err
		}
		for i, value := range b.texts[domainRole] {
			value = strings.TrimSpace(value)
			at, known := index[value]
			if !known {
				if at = len(domains); at == maxDomains {
					return nil, fmt.Errorf("%s: %q is one of more than %d values; is %q the column of domains?", t.position(b, i), value, maxDomains, roles.DomainColumn)
				}
				index[value], domains = at, append(domains, Domain{Value: value})
			}
			domains[at].Rows++
			if t.labels && normalLabel(b.texts[labelRole][i]) != "" {
				domains[at].Labelled++
			}
		}
	}
	return domains, nil
}

// keep says which of the last n rows of the batch, of which the first has that number, are of a domain that is
// wanted, nil if there are no domains, and how many. It notes their numbers.
func (t *Table) keep(b *Batch, first, n int) (keep []bool, kept int) {
	if len(b.texts[domainRole]) == 0 {
		return nil, n
	}
	for i, domain := range b.last(domainRole, n) {
		wanted := t.everyDomain || strings.TrimSpace(domain) == t.options.DomainValue
		if wanted {
			b.numbers = append(b.numbers, first+i)
			kept++
		}
		keep = append(keep, wanted)
	}
	return keep, kept
}

// noRows is the error of a table without rows.
func (t *Table) noRows() error {
	if column := t.options.DomainColumn; column != "" {
		return fmt.Errorf("no row has %.100q in the column %.100q", t.options.DomainValue, column)
	}
	return errors.New("holds no rows")
}

// last are the last n texts of a role.
func (b *Batch) last(r role, n int) []string { return b.texts[r][len(b.texts[r])-n:] }

// keepTexts removes those of the last rows for which keep is false; nil is for none.
func (b *Batch) keepTexts(keep []bool) {
	for r, texts := range b.texts {
		if keep != nil && len(texts) > 0 {
			b.texts[r] = keepRows(texts, 1, keep)
		}
	}
}

// keepRows removes the rows of the last values, each of that width, for which keep is false.
func keepRows[V any](values []V, width int, keep []bool) []V {
	first := len(values) - len(keep)*width
	kept := first
	for i, keep := range keep {
		if keep {
			kept += copy(values[kept:kept+width], values[first+i*width:])
		}
	}
	return values[:kept]
}
