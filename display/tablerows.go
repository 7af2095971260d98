package display

import (
	"fmt"
	"reflect"
	"strings"
)

// fill reads rows into columns. Values are copied, so later changes of rows do
// not show.
func (t *TableView) fill(rows any) error {
	v := indirect(reflect.ValueOf(rows))
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return t.fillRows(v)
	case reflect.Map:
		t.fillMap(v)
		return nil
	case reflect.Struct:
		t.fillFields(v)
		return nil
	}
	return fmt.Errorf("no table in a value of type %T; give a slice of structs or maps, rows of cells, a map or a struct", rows)
}

// indirect follows pointers and interfaces; the zero Value stands for nil.
func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// fillRows reads each kind of row by what it is, so that []any may mix them.
func (t *TableView) fillRows(v reflect.Value) error {
	header := hasHeader(v.Type())
	t.rows = v.Len()
	if header {
		t.rows = max(t.rows-1, 0)
	}
	elem := v.Type().Elem()
	if elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	if elem.Kind() == reflect.Struct && !writesItself(elem) {
		t.structColumns(elem) // an empty slice has its header too
	}
	for i := range v.Len() {
		row := indirect(v.Index(i))
		switch {
		case !row.IsValid():
		case header && i == 0:
			for j := range row.Len() {
				t.column(j, row.Index(j))
			}
		case header:
			t.fillCells(row, i-1)
		case row.Kind() == reflect.Struct && !writesItself(row.Type()):
			t.fillStruct(row, i)
		case row.Kind() == reflect.Map:
			for _, k := range sortedKeys(row) {
				t.named(fmt.Sprint(k)).put(i, row.MapIndex(k))
			}
		case (row.Kind() == reflect.Slice || row.Kind() == reflect.Array) && row.Type().Elem().Kind() != reflect.Uint8:
			t.fillCells(row, i)
		default:
			t.named("value").put(i, row)
		}
	}
	return nil
}

func hasHeader(rows reflect.Type) bool {
	row := rows.Elem()
	if row.Kind() != reflect.Slice {
		return false
	}
	return row.Elem().Kind() == reflect.String || row.Elem() == reflect.TypeFor[any]()
}

// writesItself reports whether values of t are one cell: times, big numbers.
func writesItself(t reflect.Type) bool {
	stringer := reflect.TypeFor[fmt.Stringer]()
	return t.Implements(stringer) || reflect.PointerTo(t).Implements(stringer) ||
		t.Implements(reflect.TypeFor[error]())
}

func (t *TableView) fillCells(row reflect.Value, i int) {
	for j := range row.Len() {
		for len(t.columns) <= j {
			t.columns = append(t.columns, &column{name: fmt.Sprint(len(t.columns))})
		}
		t.columns[j].put(i, row.Index(j))
	}
}

// column makes the j-th column from its header cell.
func (t *TableView) column(j int, header reflect.Value) {
	name := fmt.Sprint(j)
	if h := indirect(header); h.IsValid() {
		name = fmt.Sprint(h)
	}
	t.columns = append(t.columns, &column{name: name})
}

// named returns the column of that name, which it makes if need be.
func (t *TableView) named(name string) *column {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	c := &column{name: name}
	t.columns = append(t.columns, c)
	return c
}

// put sets a cell. Pointers are followed; cells that were skipped stay empty.
func (c *column) put(row int, v reflect.Value) {
	for len(c.cells) <= row {
		c.cells = append(c.cells, nil)
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() && !hasText(v.Interface()) {
		v = v.Elem()
	}
	if v.IsValid() && v.CanInterface() && !isNil(v.Interface()) {
		c.cells[row] = v.Interface()
	}
}

// fields are the columns of a struct type: exported, not tagged "-", embedded
// structs flattened.
func fields(t reflect.Type) []reflect.StructField {
	var out []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		flat := f.Anonymous && f.Type.Kind() == reflect.Struct
		if f.IsExported() && !flat && f.Tag.Get("display") != "-" {
			out = append(out, f)
		}
	}
	return out
}

// fieldsOf is fields, looked up once a type.
func (t *TableView) fieldsOf(s reflect.Type) []reflect.StructField {
	if t.known == nil {
		t.known = map[reflect.Type][]reflect.StructField{}
	}
	if _, ok := t.known[s]; !ok {
		t.known[s] = fields(s)
	}
	return t.known[s]
}

func (t *TableView) structColumns(s reflect.Type) {
	for _, f := range fields(s) {
		c := t.named(columnName(f))
		t.applyTag(c, f)
	}
}

func columnName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("display"), ",")
	if name == "" {
		return f.Name
	}
	return name
}

func (t *TableView) applyTag(c *column, f reflect.StructField) {
	_, options, _ := strings.Cut(f.Tag.Get("display"), ",")
	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		known := true
		switch key {
		case "":
		case "unit":
			c.unit = value
		case "format":
			c.format = value
		case "align":
			c.align, known = map[string]Alignment{"left": Left, "right": Right, "center": Center}[value]
		case "best":
			c.best, known = map[string]Order{"lowest": Lowest, "highest": Highest}[value]
		default:
			known = false
		}
		if !known {
			t.note("field %s: no option %q in a display tag; use unit=, format=, align=left|right|center, best=lowest|highest", f.Name, option)
		}
	}
}

func (t *TableView) fillStruct(row reflect.Value, i int) {
	for _, f := range t.fieldsOf(row.Type()) {
		v, err := row.FieldByIndexErr(f.Index)
		if err != nil {
			continue // promoted through a nil pointer: an empty cell
		}
		c := t.named(columnName(f))
		if len(c.cells) == 0 {
			t.applyTag(c, f)
		}
		c.put(i, v)
	}
}

// fillFields makes a row of each field of one struct.
func (t *TableView) fillFields(v reflect.Value) {
	for _, f := range fields(v.Type()) {
		value, err := v.FieldByIndexErr(f.Index)
		if err != nil {
			continue
		}
		t.named("field").put(t.rows, reflect.ValueOf(columnName(f)))
		t.named("value").put(t.rows, value)
		t.rows++
	}
}

// fillMap makes columns of slices, and a row of every other entry.
func (t *TableView) fillMap(v reflect.Value) {
	for _, k := range sortedKeys(v) {
		value := indirect(v.MapIndex(k))
		list := value.Kind() == reflect.Slice && value.Type().Elem().Kind() != reflect.Uint8
		switch {
		case list:
			c := t.named(fmt.Sprint(k))
			for i := range value.Len() {
				c.put(i, value.Index(i))
			}
			t.rows = max(t.rows, value.Len())
			continue
		case value.Kind() == reflect.Struct && !writesItself(value.Type()):
			t.named("key").put(t.rows, k)
			t.fillStruct(value, t.rows)
		default:
			t.named("key").put(t.rows, k)
			t.named("value").put(t.rows, v.MapIndex(k))
		}
		t.rows++
	}
}
