package nbformat

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var idPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) // never changed after start

// Validate checks the notebook against the rules of format 4 and returns
// everything that is wrong, joined; nil for a valid notebook.
func (nb *Notebook) Validate() error {
	var errs []error
	if nb.Major != Major {
		errs = append(errs, fmt.Errorf("the format is %d; it must be %d", nb.Major, Major))
	}
	if nb.Minor < 0 {
		errs = append(errs, fmt.Errorf("the minor version of the format is %d; it must not be negative", nb.Minor))
	}
	for _, key := range slices.Sorted(maps.Keys(nb.Extra)) {
		errs = append(errs, fmt.Errorf("the notebook has the key %q, which the format does not know", key))
	}
	errs = append(errs, nb.validateMetadata()...)
	first := map[string]int{}
	for i := range nb.Cells {
		c := &nb.Cells[i]
		for _, err := range c.validate(nb.Minor) {
			errs = append(errs, fmt.Errorf("%s: %w", cellName(i, c.ID), err))
		}
		if j, taken := first[c.ID]; taken && c.ID != "" {
			errs = append(errs, fmt.Errorf("%s: cell %d has the same id; ids are unique in a notebook", cellName(i, c.ID), j+1))
		} else {
			first[c.ID] = i
		}
	}
	return errors.Join(errs...)
}

func (nb *Notebook) validateMetadata() (errs []error) {
	for _, want := range []struct{ object, key string }{{"kernelspec", "name"}, {"kernelspec", "display_name"}, {"language_info", "name"}} {
		var object map[string]json.RawMessage
		ok, err := nb.Metadata.Get(want.object, &object)
		if !ok {
			continue
		}
		var text string
		if err != nil || json.Unmarshal(object[want.key], &text) != nil {
			errs = append(errs, fmt.Errorf("the notebook's metadata %q needs %q, a string", want.object, want.key))
		}
	}
	return errs
}

func (c *Cell) validate(minor int) (errs []error) {
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case c.ID == "" && minor >= 5:
		fail("the cell has no id, which format 4.5 demands")
	case c.ID != "" && minor < 5:
		fail("the cell has an id, which format 4.%d does not know", minor)
	case c.ID != "" && !idPattern.MatchString(c.ID):
		fail("the id must be 1 to 64 letters, digits, - and _")
	}
	switch c.Type {
	case Code:
		if c.Attachments != nil {
			fail("a code cell has no attachments")
		}
		if c.ExecutionCount != nil && *c.ExecutionCount < 0 {
			fail("the execution count is %d; it must not be negative", *c.ExecutionCount)
		}
		for i, o := range c.Outputs {
			if err := o.validate(); err != nil {
				fail("output %d: %w", i+1, err)
			}
		}
	case Markdown, Raw:
		if len(c.Outputs) > 0 || c.ExecutionCount != nil {
			fail("a %s cell has neither outputs nor an execution count", c.Type)
		}
		var files map[string]map[string]json.RawMessage
		if c.Attachments != nil && json.Unmarshal(c.Attachments, &files) != nil {
			fail("attachments map a file name to its contents by MIME type")
		}
	default:
		fail("the cell type is %q; it must be code, markdown or raw", c.Type)
	}
	var tags []string
	if ok, err := c.Metadata.Get("tags", &tags); ok && err != nil {
		fail("the tags must be a list of strings")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Extra)) {
		fail("the cell has the key %q, which the format does not know for a %s cell", key, c.Type)
	}
	return errs
}

// outputKeys lists, for each kind of output, its keys and what they hold.
var outputKeys = map[string]map[string]func() any{ // never changed after start
	"stream":         {"name": text, "text": lineList},
	"display_data":   {"data": mapping, "metadata": mapping},
	"execute_result": {"data": mapping, "metadata": mapping, "execution_count": count},
	"error":          {"ename": text, "evalue": text, "traceback": texts},
}

func text() any     { return new(string) }
func texts() any    { return new([]string) }
func lineList() any { return new(Text) }
func mapping() any  { return new(map[string]json.RawMessage) }
func count() any    { return new(*uint) }

func (o Output) validate() error {
	fields, err := split(o)
	if err != nil {
		return fmt.Errorf("an output is a JSON object: %w", err)
	}
	kind := o.Type()
	keys, ok := outputKeys[kind]
	if !ok {
		return fmt.Errorf("the output type is %q; it must be stream, display_data, execute_result or error", kind)
	}
	delete(fields, "output_type")
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		raw, ok := fields[key]
		if !ok || (string(raw) == "null" && key != "execution_count") {
			return fmt.Errorf("a %s output needs the key %q", kind, key)
		}
		if err := json.Unmarshal(raw, keys[key]()); err != nil {
			return fmt.Errorf("key %q of a %s output has a wrong value: %w", key, kind, err)
		}
		delete(fields, key)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		return fmt.Errorf("a %s output has no key %q", kind, key)
	}
	return nil
}

func cellName(index int, id string) string {
	if id == "" {
		return fmt.Sprintf("cell %d", index+1)
	}
	return fmt.Sprintf("cell %d (id %q)", index+1, id)
}
